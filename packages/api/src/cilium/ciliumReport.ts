import { defineKind } from "../shared/defineKind.ts";
import { fields, uint32 } from "../shared/schema.ts";

/** The one report of each cluster. */
export const CILIUM_REPORT_NAME = "cilium";

/** How many objects of some kinds of Cilium's an agent counts in its cluster. No cluster stores it. */
export const CiliumReport = defineKind({
  apiVersion: "reports.mesh.gloo.solo.io/v1",
  kind: "CiliumReport",
  plural: "ciliumreports",
  namespaced: false,
  fields: {
    status: fields({
      identities: uint32({ description: "Number of CiliumIdentities. Absent: unknown." }),
      nodes: uint32({ description: "Number of CiliumNodes. Absent: unknown." }),
    }),
  },
});
export type CiliumReport = ReturnType<typeof CiliumReport.parse>;
