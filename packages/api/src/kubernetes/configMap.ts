import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignStringMap } from "./schema.ts";

/** The ConfigMap of an Istio control plane; with a revision, `istio-<revision>`. Source: istio.io, chart istiod. */
export const MESH_CONFIG_NAME = "istio";
/** The key under which it holds the mesh configuration, as YAML. */
export const MESH_CONFIG_KEY = "mesh";

/** The ConfigMap with the configuration of Cilium. Source: docs.cilium.io, Configuration. */
export const CILIUM_CONFIG_NAME = "cilium-config";
/** What of it is read: which cluster it says it is, what it enforces, and which labels of pods it knows. */
const CILIUM_CONFIG_KEYS = [
  "cluster-name",
  "cluster-id",
  "enable-policy",
  "enable-l7-proxy",
  "policy-default-local-cluster",
  "allow-localhost",
  "routing-mode",
  "kube-proxy-replacement",
  "bpf-lb-sock-hostns-only",
  "labels",
  "prometheus-serve-addr",
];

/** A Kubernetes ConfigMap. Only Istio's mesh configurations, and a few keys of Cilium's, leave their cluster; of any other, that it exists. */
export const ConfigMap = defineKind(
  { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", fields: { data: foreignStringMap } },
  (configMap) => {
    const { apiVersion, kind, data } = configMap;
    const { resourceVersion: _, ...metadata } = projectedMetadata(configMap.metadata, () => false);
    const kept = Object.fromEntries(keysToKeep(metadata.name).flatMap((key) => (data?.[key] === undefined ? [] : [[key, data[key]]])));
    return { apiVersion, kind, metadata, ...(Object.keys(kept).length === 0 ? {} : { data: kept }) };
  },
);
export type ConfigMap = ReturnType<typeof ConfigMap.parse>;

function keysToKeep(name: string): readonly string[] {
  if (isMeshConfig(name)) return [MESH_CONFIG_KEY];
  return name === CILIUM_CONFIG_NAME ? CILIUM_CONFIG_KEYS : [];
}

function isMeshConfig(name: string): boolean {
  return name === MESH_CONFIG_NAME || name.startsWith(`${MESH_CONFIG_NAME}-`);
}
