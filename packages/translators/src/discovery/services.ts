import { meshInstallationOf, type Pod, type Service } from "@isthmus/api";
import { matchesLabels, type Owner } from "@isthmus/core";
import type { RowSources } from "../incremental/derived.ts";
import { type DiscoveredServiceInputs, isAnnotated } from "./destinations.ts";
import { addressGroups, nodeNamesOf } from "./endpoints.ts";
import type { serviceJoins } from "./serviceJoins.ts";
import { type DiscoveryContext, nodeNamed } from "./sources.ts";

/** Where the inputs of a Service come from. */
export interface ServiceSources {
  readonly lookup: RowSources<typeof serviceJoins, DiscoveryContext, unknown>["lookup"];
  readonly owner: Owner;
  readonly namespace: string;
}

/** What the translation of one Service reads; undefined when it can't be in a mesh. */
export function discoveredServiceInputs(
  service: Service,
  { lookup, owner, namespace }: ServiceSources,
): DiscoveredServiceInputs | undefined {
  const { type, selector = {} } = service.spec ?? {};
  const workloads = lookup("workloads").filter(({ spec }) => matchesLabels(selector, spec?.kubernetes?.podLabels));
  if (workloads.length === 0 && !isAnnotated(service)) return undefined;
  const addresses = addressGroups(service, lookup("slices"), lookup("endpoints")[0]);
  const hasSelector = Object.keys(selector).length > 0;
  const pods = type === "NodePort" || hasSelector ? lookup("pods") : NONE;
  const [nodes] = lookup("nodes");
  const nodeOf = (pod: Pod | undefined) => nodeNamed(pod?.spec?.nodeName, nodes);
  return {
    service,
    annotatedMesh: isAnnotated(service)
      ? lookup("meshes")
          .filter((mesh) => meshInstallationOf(mesh) !== undefined)
          .at(-1)
      : undefined,
    workloads,
    addresses,
    endpointNodes: nodeNamesOf(addresses).flatMap((name) => nodeNamed(name, nodes) ?? []),
    podNodes: type === "NodePort" ? pods.flatMap((pod) => nodeOf(pod) ?? []) : NONE,
    firstNode: hasSelector ? nodeOf(pods[0]) : undefined,
    owner,
    namespace,
  };
}

const NONE: readonly never[] = [];
