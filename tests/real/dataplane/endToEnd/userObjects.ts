import type { AnyResource, TimedCondition } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { anyKind } from "../../harness/clusters.ts";
import { applyAll } from "../../harness/manifests.ts";
import { waitFor } from "../../harness/waitFor.ts";
import { clusterNames, type PairedCluster } from "../harness/testbed.ts";

/** The clusters whose API servers users write to. */
export type Place = "management" | PairedCluster;

/** What a user reads in the status of an object. */
export interface StatusSummary {
  readonly state: string | undefined;
  /** Status of the condition Applied; undefined unless it is about the object as it is now. */
  readonly applied: string | undefined;
}

/** What users do. */
export interface UserObjects {
  /** Makes these the objects of users; earlier ones that are not among them are deleted. Resolves when the API servers have them. */
  usersWrite(objects: Partial<Readonly<Record<Place, readonly AnyResource[]>>>): Promise<void>;
  /** The status of an object in the management cluster. */
  statusOf(object: AnyResource): Promise<StatusSummary>;
  /** Waits until an object in the management cluster is accepted as it is now, and its status says that all that follows from it is applied. */
  applied(object: AnyResource): Promise<void>;
}

export function userObjectsOf(clusters: Readonly<Record<Place, Cluster>>): UserObjects {
  const places: readonly Place[] = ["management", ...clusterNames];
  const before = new Map<Place, readonly AnyResource[]>();

  async function statusOf({ apiVersion, kind, metadata: { name, namespace = "" } }: AnyResource): Promise<StatusSummary> {
    const served = (await clusters.management.servedKinds()).find((type) => type.apiVersion === apiVersion && type.kind === kind);
    if (served === undefined) throw new TypeError(`${apiVersion} ${kind} is not served`);
    const found = await clusters.management.get(anyKind(apiVersion, kind, served.plural), { name, namespace });
    const status = (found?.["status"] ?? {}) as { readonly state?: string; readonly conditions?: readonly TimedCondition[] };
    const applied = status.conditions?.find(({ type }) => type === "Applied");
    return { state: status.state, applied: applied?.observedGeneration === found?.metadata.generation ? applied?.status : undefined };
  }

  return {
    statusOf,
    async usersWrite(objects) {
      for (const place of places) {
        const now = objects[place] ?? [];
        const earlier = before.get(place) ?? [];
        before.set(place, [...earlier, ...now]);
        await applyAll(clusters[place], now);
        for (const object of earlier) if (!now.some((other) => isSame(object, other))) await remove(clusters[place], object);
        before.set(place, now);
      }
    },
    async applied(object) {
      await waitFor(`${object.kind} ${object.metadata.name} to be applied`, async () => {
        const status = await statusOf(object);
        if (status.state === "ACCEPTED" && status.applied === "True") return true;
        throw new Error(JSON.stringify(status));
      });
    },
  };
}

function isSame(a: AnyResource, b: AnyResource): boolean {
  return (
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.metadata.name === b.metadata.name &&
    a.metadata.namespace === b.metadata.namespace
  );
}

async function remove(cluster: Cluster, { apiVersion, kind, metadata: { name, namespace = "" } }: AnyResource): Promise<void> {
  await cluster.delete({ apiVersion, kind, name, namespace, clusterName: cluster.name });
}
