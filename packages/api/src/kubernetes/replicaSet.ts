import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";

/** A Kubernetes ReplicaSet: the link from a pod to its Deployment. Only its metadata leaves the cluster. */
export const ReplicaSet = defineKind({ apiVersion: "apps/v1", kind: "ReplicaSet", plural: "replicasets", fields: {} }, (replicaSet) => {
  const { resourceVersion: _, generation: __, ...metadata } = projectedMetadata(replicaSet.metadata, () => false);
  return { apiVersion: replicaSet.apiVersion, kind: replicaSet.kind, metadata };
});
export type ReplicaSet = ReturnType<typeof ReplicaSet.parse>;
