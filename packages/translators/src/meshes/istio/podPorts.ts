import type { Destination } from "@isthmus/api";
import type { PortHints } from "./portProtocol.ts";

/** A port on which the pods of a Service listen. */
interface PodPort {
  /** Of the Service's port that leads to it. */
  readonly name: string;
  /** Undefined while no endpoint says which one has the name. */
  readonly number: number | undefined;
  /** What tells which protocol it carries. */
  readonly hints: PortHints;
}

/** The ports to which those of a Service lead; one by name may be several. */
export function podPorts({ spec }: Destination): readonly PodPort[] {
  const { ports = [], endpointSubsets = [] } = spec?.kubeService ?? {};
  return ports.flatMap((hints): readonly PodPort[] => {
    const { name = "", port = 0, targetPortName, targetPortNumber } = hints;
    if (targetPortName === undefined) return [{ name, number: targetPortNumber || port, hints }];
    const numbers = endpointSubsets.flatMap((subset) => (subset.ports ?? []).flatMap((one) => (one.name === name ? (one.port ?? []) : [])));
    return numbers.length === 0 ? [{ name, number: undefined, hints }] : [...new Set(numbers)].map((number) => ({ name, number, hints }));
  });
}
