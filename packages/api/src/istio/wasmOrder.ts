import type { Resource } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf } from "../shared/schema.ts";

/** The annotation of an EnvoyFilter with what the agent gives proxies for its filters, as JSON: a list of WasmFilterOrders. */
export const WASM_ANNOTATION = "wasm.networking.mesh.gloo.solo.io";

const text = (maxLength: number) => Type.String({ maxLength });

const order = fields(
  {
    name: Type.String({ pattern: "^wasm[.-]", maxLength: 253 }),
    image: text(512),
    uri: text(1024),
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    path: text(1024),
    rootId: text(256),
    vmId: text(256),
    config: text(64 * 1024),
    failClosed: Type.Boolean(),
  },
  { additionalProperties: false, required: ["name"] },
);

/** A Wasm filter, and where its module comes from: `image`, or `uri` with `sha256`, or `path` in the proxy. */
export type WasmFilterOrder = Value<typeof order> & { readonly name: string };

// Not in any cluster: gives the list its validation.
const wasmFilters = defineKind({
  apiVersion: "reports.mesh.gloo.solo.io/v1",
  kind: "WasmFilters",
  plural: "wasmfilters",
  fields: { filters: listOf(order, { maxItems: 16 }) },
});

// Longer than what is written for the largest WasmDeployment; annotations of an object have 256 KiB together.
const LONGEST = 200 * 1024;

/** What an EnvoyFilter says of its Wasm filters; nothing where it says nothing that is understood. */
export function wasmOrdersOf({ metadata: { name, annotations } }: Resource): readonly WasmFilterOrder[] {
  const said = annotations?.[WASM_ANNOTATION];
  if (said === undefined || said.length > LONGEST) return [];
  try {
    const { apiVersion, kind } = wasmFilters;
    const { filters = [] } = wasmFilters.parse({ apiVersion, kind, metadata: { name }, filters: JSON.parse(said) as unknown });
    return (filters as readonly WasmFilterOrder[]).filter(hasOneSource);
  } catch {
    // Somebody else's words: as if there were none.
    return [];
  }
}

function hasOneSource({ image, uri, sha256, path }: WasmFilterOrder): boolean {
  return [image, uri, path].filter((one) => one !== undefined).length === 1 && (uri === undefined) === (sha256 === undefined);
}
