import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields } from "../shared/schema.ts";

/** Settings of an Open Service Mesh. Source: github.com/openservicemesh/osm, config.openservicemesh.io/v1alpha2. */
export const OsmMeshConfig = defineKind({
  apiVersion: "config.openservicemesh.io/v1alpha2",
  kind: "MeshConfig",
  plural: "meshconfigs",
  versions: ["config.openservicemesh.io/v1alpha2", "config.openservicemesh.io/v1alpha1"],
  fields: { spec: fields({ traffic: fields({ enablePermissiveTrafficPolicyMode: Type.Boolean() }) }) },
});
export type OsmMeshConfig = ReturnType<typeof OsmMeshConfig.parse>;
