import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";

/** A Kubernetes Namespace. Its labels decide whether discovery looks into it. */
export const Namespace = defineKind(
  { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false, fields: {} },
  (namespace) => {
    const { resourceVersion: _, ...metadata } = projectedMetadata(namespace.metadata, () => false);
    return { apiVersion: namespace.apiVersion, kind: namespace.kind, metadata };
  },
);
export type Namespace = ReturnType<typeof Namespace.parse>;
