import { canonicalJson, type Resource, sha256Hex } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf } from "../shared/schema.ts";

/** The annotation of an EnvoyFilter with what the agent gives proxies for its filters, as JSON: a list of WasmFilterOrders. */
export const WASM_ANNOTATION = "wasm.networking.mesh.gloo.solo.io";

/** The annotation of such an EnvoyFilter with what its WasmDeployment was when it was made: UID/GENERATION, as far as they are known. */
export const WASM_REVISION_ANNOTATION = "revision.wasm.networking.mesh.gloo.solo.io";

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

/**
 * SHA-256 of an order, in hex: what the agent gives proxies, the pods and the places in their configuration that it is for, and the generation of
 * the WasmDeployment, so that an order that says again what an earlier one said is another. Server and agent have it of the same EnvoyFilter,
 * as it is desired and as the cluster has it (docs/decisions/0121).
 */
export function wasmOrderDigest(filter: Resource): string {
  const before = digests.get(filter);
  if (before !== undefined) return before;
  const { annotations = {} } = filter.metadata;
  const { spec } = filter as { readonly spec?: unknown };
  const parts = [textDigest(annotations[WASM_ANNOTATION] ?? ""), annotations[WASM_REVISION_ANNOTATION] ?? "", spec];
  const digest = sha256Hex(canonicalJson(parts));
  digests.set(filter, digest);
  return digest;
}

// An object is another one once it has changed.
const digests = new WeakMap<Resource, string>();

/** The filters of a WasmDeployment are the same text for each of thousands of workloads, one after the other. */
function textDigest(of: string): string {
  if (lastText?.of !== of) lastText = { of, digest: sha256Hex(of) };
  return lastText.digest;
}

let lastText: { readonly of: string; readonly digest: string } | undefined;
