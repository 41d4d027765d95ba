import type { MeshTranslator } from "../meshTranslator.ts";
import { osmMeshConfig } from "./meshConfig.ts";
import { translateOsmDestination } from "./osm.ts";

/** Open Service Mesh. Its policies are judged as they are translated, and it federates nothing. */
export const osmTranslator: MeshTranslator = {
  type: "osm",
  displayName: "an Open Service Mesh",
  translateDestination: translateOsmDestination,
  hasSubsets: false,
  meshConfig: osmMeshConfig,
};
