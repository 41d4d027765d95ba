import { CILIUM_REPORT_NAME, CiliumReport, ConfigMap, countedKinds, Deployment, Mesh, Namespace, Settings } from "@isthmus/api";
import { equalJson, groupOf, type Index, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import { byUsersCluster } from "../attachment/userObjects.ts";
import { controlPlanesByCluster } from "../discovery/controlPlanes.ts";
import { discoveryScope, isEverywhere } from "../discovery/scope.ts";
import { changesOf, versionsOf } from "../incremental/changes.ts";
import type { Translation } from "../pipeline/translate.ts";
import { meshCluster } from "../policy/policyScope.ts";

/** The status of a Mesh: what is in force there, and what is counted beside it of Cilium's objects and of those that users have written. */
export function meshStatus(mesh: Mesh, { inputs, cache }: Pick<Translation, "inputs" | "cache">): object {
  const clusterName = meshCluster(mesh);
  const counts = countsOf(inputs, clusterName, cache.options.namespace);
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
  // Settings decide for all clusters which namespaces count.
  if (changesOf(Settings, inputs, before?.inputs).length > 0) return [...attached.of(Mesh)].map(refOf);
  const clusters = new Set(
    [...versionsOf(changesOf(CiliumReport, inputs, before?.inputs))].map(({ metadata }) => metadata.clusterName ?? ""),
  );
  for (const { before: was, after } of changesOf(Namespace, inputs, before?.inputs)) {
    if (was === undefined || after === undefined || !equalJson(was.metadata.labels, after.metadata.labels)) {
      clusters.add((after ?? was)?.metadata.clusterName ?? "");
    }
  }
  for (const configMap of versionsOf(changesOf(ConfigMap, inputs, before?.inputs))) clusters.add(configMap.metadata.clusterName ?? "");
  for (const deployment of versionsOf(changesOf(Deployment, inputs, before?.inputs))) {
    for (const cluster of controlPlanesByCluster(deployment)) clusters.add(cluster);
  }
  for (const kind of countedKinds()) {
    for (const { before: was, after } of changesOf(kind, inputs, before?.inputs)) {
      const [older, newer] = [was, after].map((object) => (object === undefined ? [] : byUsersCluster(object)));
      if (older?.[0] !== newer?.[0]) for (const cluster of [...(older ?? []), ...(newer ?? [])]) clusters.add(cluster);
    }
  }
  return [...clusters].flatMap((cluster) => attached.of(Mesh).where(byCluster, cluster).map(refOf));
}

/** As an agent sends them: of namespaces that discovery looks into. */
function countsOf(inputs: Snapshot, clusterName: string, planeNamespace: string): readonly object[] {
  const scope = discoveryScope(inputs, clusterName, planeNamespace);
  return countedKinds().flatMap((kind) => {
    const objects = inputs.of(kind).where(byUsersCluster, clusterName);
    const counted = isEverywhere(scope) ? objects : objects.filter(({ metadata }) => scope(metadata.namespace ?? ""));
    return counted.length === 0 ? [] : [{ group: groupOf(kind.apiVersion), kind: kind.kind, count: counted.length }];
  });
}

const byCluster: Index<Mesh> = (mesh) => [meshCluster(mesh)];
