import { deliveredKinds, Secret } from "@isthmus/api";
import type { ResourceRef } from "@isthmus/core";
import { refOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { anyKind, CustomResourceDefinition } from "../../harness/clusters.ts";
import { ourCrds } from "../../harness/meshCluster.ts";
import { waitFor } from "../../harness/waitFor.ts";

const NAMESPACE = "gloo-mesh";
const Lease = anyKind("coordination.k8s.io/v1", "Lease", "leases");

/**
 * Makes a testbed's cluster what it was before our programs ran there, once they are stopped: no object of Istio, no kind of ours, and nothing that
 * they keep in their namespace.
 */
export async function removeInstallation(cluster: Cluster): Promise<void> {
  const served = new Set((await cluster.servedKinds()).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  const kinds = deliveredKinds().filter(({ apiVersion, kind }) => apiVersion.includes(".istio.io/") && served.has(`${apiVersion} ${kind}`));
  const kept = [
    ...(await cluster.list(Secret, { namespace: NAMESPACE })).items,
    ...(await cluster.list(Lease, { namespace: NAMESPACE })).items,
  ];
  const written = (await Promise.all(kinds.map((kind) => cluster.list(kind)))).flatMap(({ items }) => items);
  const crds = ourCrds();
  for (const object of [...written, ...kept, ...crds]) await remove(cluster, refOf(object));
  // Their objects go with them.
  const names = new Set(crds.map(({ metadata }) => metadata.name));
  await waitFor("our kinds to be gone", async () =>
    (await cluster.list(CustomResourceDefinition)).items.every(({ metadata }) => !names.has(metadata.name)),
  );
}

async function remove(cluster: Cluster, ref: ResourceRef): Promise<void> {
  try {
    await cluster.delete(ref);
  } catch (error) {
    if (!(error instanceof ClusterError) || error.code !== "NotFound") throw error;
  }
}
