import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { fields, listOf, oneOfWords, strings, uint32 } from "../shared/schema.ts";

/*
 * The parts of EnvoyFilters by which proxies send access logs to their agent. Source: Envoy's API v3, of which nothing else is written.
 */

/** The cluster of Envoy by which proxies know their agent. */
export const AGENT_CLUSTER = "gloo-mesh-agent";

const CLOSED = { additionalProperties: false };
const ENVOY = "type.googleapis.com/envoy.extensions";
const HTTP_PROTOCOL_OPTIONS = `${ENVOY}.upstreams.http.v3.HttpProtocolOptions`;

function exactly<P extends Parameters<typeof fields>[0]>(properties: P) {
  return fields(properties, { ...CLOSED, required: Object.keys(properties) });
}

const agentName = oneOfWords([AGENT_CLUSTER]);

const statusCodeFilter = exactly({
  comparison: exactly({
    op: oneOfWords(["EQ", "GE", "LE"]),
    value: exactly({ default_value: uint32(), runtime_key: oneOfWords(["gloo-mesh.accesslog"]) }),
  }),
});

const headerFilter = exactly({
  header: fields(
    {
      name: Type.String(),
      present_match: Type.Boolean(),
      string_match: fields({ exact: Type.String(), safe_regex: exactly({ regex: Type.String() }) }, CLOSED),
      invert_match: Type.Boolean(),
    },
    { ...CLOSED, required: ["name"] },
  ),
});

const oneFilter = { status_code_filter: statusCodeFilter, header_filter: headerFilter };
// Envoy demands at least two of them.
const orFilter = exactly({ filters: listOf(fields(oneFilter, CLOSED), { minItems: 2 }) });

const accessLogFilter = fields({ ...oneFilter, or_filter: orFilter }, CLOSED);

/** Which requests an access logger logs. */
export type AccessLogFilter = Value<typeof accessLogFilter>;

const loggerConfig = fields(
  {
    "@type": oneOfWords([`${ENVOY}.access_loggers.grpc.v3.HttpGrpcAccessLogConfig`]),
    common_config: fields(
      {
        log_name: Type.String({ pattern: "^accesslog\\." }),
        transport_api_version: oneOfWords(["V3"]),
        buffer_flush_interval: Type.String(),
        buffer_size_bytes: uint32(),
        grpc_service: exactly({ envoy_grpc: exactly({ cluster_name: agentName }), timeout: Type.String() }),
        filter_state_objects_to_log: strings(),
      },
      { ...CLOSED, required: ["log_name", "grpc_service"] },
    ),
    additional_request_headers_to_log: strings(),
    additional_response_headers_to_log: strings(),
    additional_response_trailers_to_log: strings(),
  },
  { ...CLOSED, required: ["@type", "common_config"] },
);

const accessLogger = fields(
  { name: oneOfWords(["envoy.access_loggers.http_grpc"]), filter: accessLogFilter, typed_config: loggerConfig },
  { ...CLOSED, required: ["typed_config"] },
);

/** What makes a proxy send access logs to its agent. */
export type AccessLogger = Value<typeof accessLogger>;

const connectionManager = exactly({
  "@type": oneOfWords([`${ENVOY}.filters.network.http_connection_manager.v3.HttpConnectionManager`]),
  access_log: listOf(accessLogger),
});

const filter = exactly({ name: oneOfWords(["envoy.filters.network.http_connection_manager"]) });

/** A patch that adds an access logger to whatever serves HTTP. */
export const accessLogPatch = exactly({
  applyTo: oneOfWords(["NETWORK_FILTER"]),
  match: exactly({ context: oneOfWords(["ANY"]), listener: exactly({ filterChain: exactly({ filter }) }) }),
  patch: exactly({ operation: oneOfWords(["MERGE"]), value: exactly({ typed_config: connectionManager }) }),
});

export type AccessLogPatch = Value<typeof accessLogPatch>;

const socketAddress = exactly({ address: Type.String(), port_value: uint32({ minimum: 1, maximum: 65535 }) });
const endpoint = exactly({ endpoint: exactly({ address: exactly({ socket_address: socketAddress }) }) });

const agentCluster = exactly({
  name: agentName,
  type: oneOfWords(["STRICT_DNS"]),
  connect_timeout: Type.String(),
  typed_extension_protocol_options: exactly({
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": exactly({
      "@type": oneOfWords([HTTP_PROTOCOL_OPTIONS]),
      explicit_http_config: exactly({ http2_protocol_options: exactly({}) }),
    }),
  }),
  load_assignment: exactly({ cluster_name: agentName, endpoints: listOf(exactly({ lb_endpoints: listOf(endpoint) })) }),
});

/** A patch that adds the agent as a cluster of Envoy: it is about every proxy, and changes nothing that is there. */
export const agentClusterPatch = exactly({
  applyTo: oneOfWords(["CLUSTER"]),
  match: exactly({ context: oneOfWords(["ANY"]) }),
  patch: exactly({ operation: oneOfWords(["ADD"]), value: agentCluster }),
});

export type AgentClusterPatch = Value<typeof agentClusterPatch>;
