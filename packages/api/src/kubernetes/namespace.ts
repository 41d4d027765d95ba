import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";

/**
 * Annotation on a KubernetesCluster: each new value lets go, once, what is on hold in that cluster. On the agent's own Namespace it
 * is the word of that cluster's operator, which counts also for what the agent's own limit holds back.
 */
export const RESUME_DELETES = "isthmus.mesh/resume-deletes";

/** A Kubernetes Namespace. Its labels decide whether discovery looks into it. */
export const Namespace = defineKind(
  { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false, fields: {} },
  (namespace) => {
    const { resourceVersion: _, ...metadata } = projectedMetadata(namespace.metadata, (annotation) => annotation === RESUME_DELETES);
    return { apiVersion: namespace.apiVersion, kind: namespace.kind, metadata };
  },
);
export type Namespace = ReturnType<typeof Namespace.parse>;
