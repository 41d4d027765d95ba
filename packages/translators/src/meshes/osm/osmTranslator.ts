import type { MeshTranslator } from "../meshTranslator.ts";
import { osmMeshConfig } from "./meshConfig.ts";
import { translateOsmDestination } from "./osm.ts";
import { splitVerdicts } from "./trafficSplits.ts";

/** Open Service Mesh. It federates nothing. */
export const osmTranslator: MeshTranslator = {
  type: "osm",
  displayName: "an Open Service Mesh",
  translateDestination: translateOsmDestination,
  policyVerdicts: splitVerdicts,
  hasSubsets: false,
  meshConfig: osmMeshConfig,
};
