import type { Destination, KubeServicePort, Mesh, VirtualDestinationSpec } from "@isthmus/api";
import { keyOf, keyOfResource } from "@isthmus/core";
import { portsOf } from "../hosts/serviceRefs.ts";

/** The port of a Destination's Service that is behind the host's; undefined where it has no such port. */
export function servicePortOf({ port }: VirtualDestinationSpec, destination: Destination): KubeServicePort | undefined {
  const { number, targetName, targetNumber } = port ?? {};
  return portsOf(destination).find((one) => (targetName === undefined ? one.port === (targetNumber || number) : one.name === targetName));
}

/** Whether a mesh of another cluster may call a Destination. */
export function isFederatedTo({ status }: Destination, mesh: Mesh): boolean {
  const key = keyOfResource(mesh);
  const { federatedToMeshes = [] } = status?.appliedFederation ?? {};
  return federatedToMeshes.some((ref) => keyOf({ ...ref, clusterName: "" }) === key);
}
