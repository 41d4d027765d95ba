import { type Kind, kindKeyOf, type Resource } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";

/** Writes objects in a version that the cluster serves: older Istio lacks `v1`. */
export interface ServedVersions {
  /** The object in the first version of its kind that the cluster serves. Rejects with ClusterError `Unserved` when it serves none. */
  asServed(kind: Kind, resource: Resource, signal: AbortSignal): Promise<Resource>;
  /** To be called when the cluster refused a version: which it serves is asked again. */
  forget(): void;
}

/** Asks the cluster what it serves at the first call, and keeps the answer until `forget`, or until a call rejects. */
export function servedVersions(cluster: Cluster): ServedVersions {
  let served: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined;

  async function read(signal: AbortSignal): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const versions = new Map<string, Set<string>>();
    for (const type of await cluster.servedKinds(signal)) {
      const key = kindKeyOf(type);
      versions.set(key, (versions.get(key) ?? new Set()).add(type.apiVersion));
    }
    return versions;
  }

  return {
    async asServed(kind, resource, signal) {
      served ??= read(signal);
      try {
        const versions = (await served).get(kindKeyOf(kind));
        const apiVersion = kind.versions.find((version) => versions?.has(version));
        if (apiVersion === undefined) {
          throw new ClusterError("Unserved", `the cluster does not serve ${kind.kind} (${kind.versions.join(", ")}): install its CRD`);
        }
        return apiVersion === resource.apiVersion ? resource : { ...resource, apiVersion };
      } catch (error) {
        // Asked again at the next try: a CRD may have been installed meanwhile.
        served = undefined;
        throw error;
      }
    },
    forget() {
      served = undefined;
    },
  };
}
