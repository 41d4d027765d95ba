import { type Destination, DestinationRule, VirtualService } from "@isthmus/api";
import { compareKeys, keyOfResource, type Snapshot } from "@isthmus/core";
import type { Surroundings, UserObject } from "../inputs.ts";
import { hostnameFrom } from "../networking/istio/hostnames.ts";
import type { Source } from "../networking/istio/source.ts";
import { hostsOf } from "../networking/istio/userObjects.ts";
import { NETWORKING_OWNER_LABEL } from "../networking/outputMetadata.ts";

/** Istio objects of users by cluster and host; those with a wildcard stand under `*`. */
export type UserObjectIndex = ReadonlyMap<string, readonly UserObject[]>;

/** Every VirtualService and DestinationRule that this product did not write. */
export function userObjectIndex(snapshot: Snapshot, { clusterDomains }: Surroundings): UserObjectIndex {
  const index = new Map<string, UserObject[]>();
  for (const object of [...snapshot.of(VirtualService), ...snapshot.of(DestinationRule)]) {
    if (object.metadata.labels?.[NETWORKING_OWNER_LABEL] !== undefined) continue;
    for (const host of hostsOf(object, clusterDomains)) {
      const key = placeKey(object.metadata.clusterName ?? "", host.startsWith("*") ? "*" : host);
      const list = index.get(key);
      if (list === undefined) index.set(key, [object]);
      else list.push(object);
    }
  }
  return index;
}

/** The objects of users that may be about the hosts of a Destination, in key order, each once. */
export function userObjectsFor(
  destination: Destination,
  sources: readonly Source[],
  { index, surroundings }: { readonly index: UserObjectIndex; readonly surroundings: Surroundings },
): readonly UserObject[] {
  const service = destination.spec?.kubeService?.ref;
  if (index.size === 0 || service === undefined) return [];
  const found = new Set<UserObject>();
  for (const { clusterName } of sources) {
    const host = hostnameFrom(clusterName, { service, destination }, surroundings.clusterDomains);
    for (const name of [host, "*"]) for (const object of index.get(placeKey(clusterName, name)) ?? []) found.add(object);
  }
  return [...found].sort((a, b) => compareKeys(`${a.kind}/${keyOfResource(a)}`, `${b.kind}/${keyOfResource(b)}`));
}

function placeKey(clusterName: string, host: string): string {
  return `${clusterName}/${host}`;
}
