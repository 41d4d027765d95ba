import type { Destination, VirtualDestination } from "@isthmus/api";
import { type ClusterObjectRef, keyOf, keyOfResource, type ObjectRef } from "@isthmus/core";
import type { DestinationInputs, Surroundings } from "../../inputs.ts";
import { remembered } from "../../remembered.ts";
import { hostnameFrom, serviceKeyOf } from "./hostnames.ts";
import type { SourceContext } from "./policyFields.ts";
import type { Source } from "./source.ts";

/** What policies may refer to. */
export interface References {
  destinationOf(service: ClusterObjectRef): Destination | undefined;
  /** `clusterName` is that of the policy which names it. */
  virtualDestinationOf(ref: ClusterObjectRef): VirtualDestination | undefined;
  readonly clusterDomains: ReadonlyMap<string, string>;
  /** Whether Envoy may fill something into the values of headers. */
  readonly allowsHeaderOperators: boolean;
}

/** Whether the Settings let policies add headers whose values Envoy makes. */
export function allowsHeaderOperators({ settings }: Pick<Surroundings, "settings">): boolean {
  return settings?.spec?.policies?.headerOperators === "ALLOWED";
}

/** The references that a Destination's inputs hold. */
export function referencesOf({ destination, referred, virtualDestinations, surroundings }: DestinationInputs): References {
  const known = [destination, ...referred];
  return {
    destinationOf: (service) => known.find((candidate) => serviceKeyOf(candidate) === keyOf(service)),
    virtualDestinationOf: (ref) => firstOf(ref, (key) => virtualDestinations.find((candidate) => keyOfResource(candidate) === key)),
    clusterDomains: surroundings.clusterDomains,
    allowsHeaderOperators: allowsHeaderOperators(surroundings),
  };
}

/** Where a VirtualDestination is looked for that a policy names without its cluster: in the policy's own, then in the management cluster. */
export function virtualDestinationKeys({ name, namespace, clusterName }: ClusterObjectRef): readonly string[] {
  return [...new Set([clusterName, ""])].map((place) => keyOf({ name, namespace, clusterName: place }));
}

/** The VirtualDestination that a policy names. */
export function firstOf(ref: ClusterObjectRef, lookup: (key: string) => VirtualDestination | undefined): VirtualDestination | undefined {
  return virtualDestinationKeys(ref).flatMap((key) => lookup(key) ?? [])[0];
}

/** What route policies may know of requests from one source. */
export function routeContext(source: Source, references: References): SourceContext {
  const { clusterName } = source;
  const { destinationOf, virtualDestinationOf, clusterDomains, allowsHeaderOperators: allows } = references;
  return {
    clusterName,
    destinationOf,
    virtualDestinationOf,
    allowsHeaderOperators: allows,
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
