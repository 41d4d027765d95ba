import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf, stringMap, strings } from "../shared/schema.ts";
import { NETWORKING_VERSIONS } from "./versions.ts";

/** Which hosts a workload's sidecar knows. Source: istio.io/docs/reference/config/networking/sidecar. */
export const Sidecar = defineKind({
  apiVersion: "networking.istio.io/v1",
  kind: "Sidecar",
  plural: "sidecars",
  versions: NETWORKING_VERSIONS,
  fields: {
    spec: fields({ workloadSelector: fields({ labels: stringMap() }), egress: listOf(fields({ hosts: strings() })) }),
  },
});
export type Sidecar = ReturnType<typeof Sidecar.parse>;
