import type { Destination, VirtualDestination } from "@isthmus/api";
import { type ClusterObjectRef, keyOf, keyOfResource, type ObjectRef } from "@isthmus/core";
import type { DestinationInputs } from "../../inputs.ts";
import { remembered } from "../../remembered.ts";
import { hostnameFrom, serviceKeyOf } from "./hostnames.ts";
import type { RouteContext } from "./routes/routePolicy.ts";
import type { Source } from "./source.ts";

/** What policies may refer to. */
export interface References {
  destinationOf(service: ClusterObjectRef): Destination | undefined;
  virtualDestinationOf(ref: ObjectRef): VirtualDestination | undefined;
  readonly clusterDomains: ReadonlyMap<string, string>;
}

/** The references that a Destination's inputs hold. */
export function referencesOf({ destination, referred, virtualDestinations, surroundings }: DestinationInputs): References {
  const known = [destination, ...referred];
  return {
    destinationOf: (service) => known.find((candidate) => serviceKeyOf(candidate) === keyOf(service)),
    virtualDestinationOf: ({ name, namespace }) =>
      virtualDestinations.find((candidate) => keyOfResource(candidate) === keyOf({ name, namespace, clusterName: "" })),
    clusterDomains: surroundings.clusterDomains,
  };
}

/** What route policies may know of requests from one source. */
export function routeContext(source: Source, references: References): RouteContext {
  const { clusterName } = source;
  const { destinationOf, virtualDestinationOf, clusterDomains } = references;
  return {
    clusterName,
    destinationOf,
    virtualDestinationOf,
    hostnameOf: (service) => hostnameFrom(clusterName, { service, destination: destinationOf(service) }, clusterDomains),
    isFederatedHere: (service) => isFederatedTo(source.meshKey, destinationOf(service)),
  };
}

function isFederatedTo(meshKey: string, destination: Destination | undefined): boolean {
  const meshes = destination?.status?.appliedFederation?.federatedToMeshes;
  return meshes !== undefined && meshKeysIn(meshes).has(meshKey);
}

// Asked for each mesh that a policy's requests come from.
const meshKeysIn = remembered((meshes: readonly ObjectRef[]) => new Set(meshes.map((mesh) => keyOf({ ...mesh, clusterName: "" }))));
