import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignStringMap } from "./schema.ts";

/** The ConfigMap of an Istio control plane; with a revision, `istio-<revision>`. Source: istio.io, chart istiod. */
export const MESH_CONFIG_NAME = "istio";
/** The key under which it holds the mesh configuration, as YAML. */
export const MESH_CONFIG_KEY = "mesh";

/** A Kubernetes ConfigMap. Only Istio's mesh configurations leave their cluster; of any other, that it exists. */
export const ConfigMap = defineKind(
  { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", fields: { data: foreignStringMap } },
  (configMap) => {
    const { apiVersion, kind, data } = configMap;
    const { resourceVersion: _, ...metadata } = projectedMetadata(configMap.metadata, () => false);
    const mesh = isMeshConfig(metadata.name) ? data?.[MESH_CONFIG_KEY] : undefined;
    return { apiVersion, kind, metadata, ...(mesh === undefined ? {} : { data: { [MESH_CONFIG_KEY]: mesh } }) };
  },
);
export type ConfigMap = ReturnType<typeof ConfigMap.parse>;

function isMeshConfig(name: string): boolean {
  return name === MESH_CONFIG_NAME || name.startsWith(`${MESH_CONFIG_NAME}-`);
}
