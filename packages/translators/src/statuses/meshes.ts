import { CILIUM_REPORT_NAME, CiliumReport, countedKinds, Mesh, Namespace } from "@isthmus/api";
import { groupOf, type Index, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import { byUsersCluster } from "../attachment/userObjects.ts";
import { changesOf, versionsOf } from "../incremental/changes.ts";
import type { Translation } from "../pipeline/translate.ts";
import { meshCluster } from "../policy/policyScope.ts";

/** The status of a Mesh: what is in force there, and what is counted beside it of Cilium's objects and of those that users have written. */
export function meshStatus(mesh: Mesh, { inputs }: Pick<Translation, "inputs">): object {
  const clusterName = meshCluster(mesh);
  const counts = countsOf(inputs, clusterName);
  // Of a cluster that nobody has heard of since the start, what was counted last stands: unknown is not none.
  const isKnown = counts.length > 0 || inputs.of(Namespace).where(byUsersCluster, clusterName).length > 0;
  const userObjects = isKnown ? counts : (inputs.of(Mesh).get(refOf(mesh))?.status?.userObjects ?? counts);
  const status = { ...mesh.status, ...(userObjects.length === 0 ? {} : { userObjects }) };
  if (mesh.spec?.cilium === undefined) return status;
  const counted = inputs.of(CiliumReport).get({ name: CILIUM_REPORT_NAME, namespace: "", clusterName });
  return counted?.status === undefined ? status : { ...status, cilium: counted.status };
}

/** The Meshes beside which something else is counted than before. */
export function meshesCountedAnew({ inputs, attached }: Translation, before: Translation | undefined): readonly ResourceRef[] {
  const clusters = new Set(
    [...versionsOf(changesOf(CiliumReport, inputs, before?.inputs))].map(({ metadata }) => metadata.clusterName ?? ""),
  );
  for (const kind of [Namespace, ...countedKinds()]) {
    for (const { before: was, after } of changesOf(kind, inputs, before?.inputs)) {
      const [older, newer] = [was, after].map((object) => (object === undefined ? [] : byUsersCluster(object)));
      if (older?.[0] !== newer?.[0]) for (const cluster of [...(older ?? []), ...(newer ?? [])]) clusters.add(cluster);
    }
  }
  return [...clusters].flatMap((cluster) => attached.of(Mesh).where(byCluster, cluster).map(refOf));
}

function countsOf(inputs: Snapshot, clusterName: string): readonly object[] {
  return countedKinds().flatMap((kind) => {
    const count = inputs.of(kind).where(byUsersCluster, clusterName).length;
    return count === 0 ? [] : [{ group: groupOf(kind.apiVersion), kind: kind.kind, count }];
  });
}

const byCluster: Index<Mesh> = (mesh) => [meshCluster(mesh)];
