import { Mesh, meshClusters } from "@isthmus/api";
import type { JsonObject } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";

/** The trust domains that the Istio meshes of each cluster are used with, in order. */
export function trustDomainsOfClusters(translation: Translation | undefined): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const mesh of translation?.attached.of(Mesh) ?? []) {
    const { trustDomain = "" } = mesh.spec?.istio ?? {};
    if (trustDomain === "") continue;
    for (const clusterName of meshClusters(mesh)) found.set(clusterName, (found.get(clusterName) ?? new Set()).add(trustDomain));
  }
  return new Map([...found].map(([clusterName, domains]) => [clusterName, [...domains].sort().slice(0, MOST_DOMAINS)]));
}

// As the schema says.
const MOST_DOMAINS = 64;

/**
 * What the status of a cluster says of them. What it said `before` stays where no mesh is known: it is what a mesh that comes back is compared with
 * (docs/decisions/0156).
 */
export function trustDomainsField(domains: readonly string[], before: JsonObject): JsonObject {
  if (domains.length > 0) return { trustDomains: [...domains] };
  return before["trustDomains"] === undefined ? {} : { trustDomains: before["trustDomains"] };
}
