import { isNamedIn, KubernetesCluster, type ManagedObject, managedObjectsOf, type WriteMode, writeModeOf } from "@isthmus/api";
import type { Resource, ResourceRef } from "@isthmus/core";

/** What may be written in a cluster. */
export interface WriteRules {
  readonly mode: WriteMode;
  /** What is written although the cluster is observed. */
  readonly managedObjects: readonly ManagedObject[];
}

/** What an agent writes that was sent nothing it understands: nothing. */
export const NO_WRITES: WriteRules = { mode: "freeze", managedObjects: [] };

/** What an agent of a server writes that knows no modes. */
export const ALL_WRITES: WriteRules = { mode: "manage", managedObjects: [] };

/** Whether an object may be written. */
export function allowsObject({ mode, managedObjects }: WriteRules, { kind, namespace, name }: ResourceRef): boolean {
  return mode === "manage" || (mode === "observe" && isNamedIn(managedObjects, { kind, namespace, name }));
}

/** What a server tells the agent of a registered cluster of its mode, in words that agents of this version know. */
export function writeRulesNotice(cluster: KubernetesCluster, clusterName: string): Resource & Pick<KubernetesCluster, "spec"> {
  const { apiVersion, kind, metadata } = cluster;
  const { name, namespace = "" } = metadata;
  const mode = writeModeOf(cluster);
  const managedObjects = mode === "observe" ? managedObjectsOf(cluster) : [];
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, clusterName },
    spec: { mode, ...(managedObjects.length === 0 ? {} : { managedObjects }) },
  };
}

/** The mode in what a server sent; undefined when it is about something else. Throws InvalidResource. */
export function receivedWriteRules(resource: Resource): WriteRules | undefined {
  const { apiVersion, kind } = resource;
  if (kind !== KubernetesCluster.kind || !KubernetesCluster.versions.includes(apiVersion)) return undefined;
  const cluster = KubernetesCluster.parse(resource);
  return { mode: writeModeOf(cluster), managedObjects: managedObjectsOf(cluster) };
}
