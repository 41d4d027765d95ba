import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf, uint32 } from "../shared/schema.ts";

const status = fields({
  orderSha256: Type.String({
    pattern: "^[0-9a-f]{64}$",
    description:
      "SHA-256 of the order that all of this is about, hex (`wasmOrderDigest`). Absent: from an agent that does not say, so it is about none.",
  }),
  proxies: uint32({
    description: "Number of proxies of its pods that ask a replica of the agent for its filters, as far as replicas answer.",
  }),
  accepted: uint32({ description: "Number of those that run all of them as they are meant now." }),
  refused: uint32({ description: "Number of those that refuse one." }),
  refusal: Type.String({ description: "What one of them says." }),
  unavailable: Type.String({ description: "Why a module is not there. Absent: all are, or are being fetched." }),
  userFilters: listOf(Type.String(), {
    description: "EnvoyFilters of users, as namespace/name, that change HTTP filters of the same pods: at most 10.",
  }),
});

/**
 * What became of the Wasm filters of an EnvoyFilter that was written for the plane, whose name it has: a few numbers of the agent. No cluster
 * stores it.
 */
export const WasmFilterReport = defineKind({
  apiVersion: "reports.mesh.gloo.solo.io/v1",
  kind: "WasmFilterReport",
  plural: "wasmfilterreports",
  fields: { status },
});
export type WasmFilterReport = ReturnType<typeof WasmFilterReport.parse>;
export type WasmFilterState = Value<typeof status>;
