import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { fields, listOf, oneOfWords, uint32 } from "../shared/schema.ts";

/*
 * The part of EnvoyFilters by which proxies ask their agent for Wasm filters (docs/decisions/0120). Source: Envoy's API v3, of which nothing
 * else is written.
 */

const CLOSED = { additionalProperties: false };
const FILTERS = "type.googleapis.com/envoy.extensions.filters.http";

/** The filter that decides while the agent has not answered. */
export const RBAC_FILTER = `${FILTERS}.rbac.v3.RBAC`;
/** The only filter that an agent answers with. */
export const WASM_FILTER = `${FILTERS}.wasm.v3.Wasm`;

function exactly<P extends Parameters<typeof fields>[0]>(properties: P) {
  return fields(properties, { ...CLOSED, required: Object.keys(properties) });
}

const agent = exactly({
  target_uri: Type.String({ maxLength: 270 }),
  stat_prefix: oneOfWords(["gloo-mesh-agent"]),
  channel_args: exactly({
    args: exactly({ "grpc.max_receive_message_length": exactly({ int_value: uint32() }) }),
  }),
});

// Without rules it lets everything pass; with an action and no policy, nothing.
const whileNothing = fields(
  { "@type": oneOfWords([RBAC_FILTER]), rules: exactly({ action: oneOfWords(["ALLOW"]) }) },
  { ...CLOSED, required: ["@type"] },
);

const discovery = exactly({
  apply_default_config_without_warming: Type.Boolean(),
  default_config: whileNothing,
  type_urls: listOf(oneOfWords([WASM_FILTER, RBAC_FILTER])),
  config_source: exactly({
    resource_api_version: oneOfWords(["V3"]),
    initial_fetch_timeout: Type.String(),
    api_config_source: exactly({
      api_type: oneOfWords(["GRPC"]),
      transport_api_version: oneOfWords(["V3"]),
      grpc_services: listOf(exactly({ google_grpc: agent }), { minItems: 1, maxItems: 1 }),
    }),
  }),
});

/** A filter that a proxy asks its agent for. */
const discovered = exactly({ name: Type.String({ pattern: "^wasm[.-]" }), config_discovery: discovery });

const filterChain = exactly({
  filter: exactly({
    name: oneOfWords(["envoy.filters.network.http_connection_manager"]),
    subFilter: exactly({ name: Type.String() }),
  }),
});

/** A patch that puts such a filter before another one. */
export const wasmPatch = exactly({
  applyTo: oneOfWords(["HTTP_FILTER"]),
  match: exactly({
    context: oneOfWords(["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"]),
    listener: exactly({ filterChain }),
  }),
  patch: exactly({ operation: oneOfWords(["INSERT_BEFORE"]), value: discovered }),
});

export type WasmPatch = Value<typeof wasmPatch>;
