import { OsmMeshConfig } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { MeshConfigObject } from "../meshTranslator.ts";

/** Where an Open Service Mesh keeps its settings. */
export const osmMeshConfig: MeshConfigObject = {
  kind: OsmMeshConfig,
  refOf({ spec }) {
    const { namespace = "", cluster = "" } = spec?.osm?.installation ?? {};
    // OSM knows its settings under this name alone.
    return { name: "osm-mesh-config", namespace, clusterName: cluster };
  },
};

/** Whether an object holds the settings of an Open Service Mesh. */
export function isOsmMeshConfig(object: Resource | undefined): object is OsmMeshConfig {
  return object?.kind === OsmMeshConfig.kind;
}
