import { type AccessLogFilter, type AccessLogger, type AccessLogRecord, type AccessLogRecordSpec, AGENT_CLUSTER } from "@isthmus/api";
import { isSecretHeader } from "@isthmus/core";
import { accessLogRecordFormOf } from "../../../policy/forms/accessLogRecordForm.ts";

type LogFilter = NonNullable<AccessLogRecordSpec["filters"]>[number];
type OneFilter = Pick<AccessLogFilter, "status_code_filter" | "header_filter">;

/** What makes a proxy log as a record says. Source: Envoy's API, envoy.config.accesslog.v3 and envoy.extensions.access_loggers.grpc.v3. */
export function accessLoggerOf(record: AccessLogRecord): AccessLogger {
  const { spec = {} } = accessLogRecordFormOf(record);
  const { filters = [], includedFilterStateObjects = [] } = spec;
  const filter = filterOf(filters);
  return {
    name: "envoy.access_loggers.http_grpc",
    ...(filter === undefined ? {} : { filter }),
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig",
      common_config: {
        log_name: logName(record),
        transport_api_version: "V3",
        // A request is to be seen within two seconds; and a proxy holds little of it.
        buffer_flush_interval: "1s",
        buffer_size_bytes: 16384,
        grpc_service: { envoy_grpc: { cluster_name: AGENT_CLUSTER }, timeout: "5s" },
        ...(includedFilterStateObjects.length === 0 ? {} : { filter_state_objects_to_log: includedFilterStateObjects }),
      },
      ...headers("additional_request_headers_to_log", spec.includedRequestHeaders),
      ...headers("additional_response_headers_to_log", spec.includedResponseHeaders),
      ...headers("additional_response_trailers_to_log", spec.includedResponseTrailers),
    },
  };
}

/** What distinguishes entries of several records. */
function logName({ metadata: { name, namespace = "", clusterName = "" } }: AccessLogRecord): string {
  return ["accesslog", name, namespace, ...(clusterName === "" ? [] : [clusterName])].join(".");
}

function headers<F extends string>(field: F, names: readonly string[] | undefined): { readonly [K in F]?: string[] } {
  // What is never to be seen is not sent either: the way to the agent is in plain text.
  const lowered = [...new Set((names ?? []).filter((name) => !isSecretHeader(name)).map((name) => name.toLowerCase()))];
  return (lowered.length === 0 ? {} : { [field]: lowered }) as { readonly [K in F]?: string[] };
}

function filterOf(filters: readonly LogFilter[]): AccessLogFilter | undefined {
  const [first, ...others] = filters.map(oneFilterOf);
  // Envoy refuses an `or_filter` of one.
  return first === undefined || others.length === 0 ? first : { or_filter: { filters: [first, ...others] } };
}

function oneFilterOf({ statusCodeMatcher, headerMatcher }: LogFilter): OneFilter {
  if (statusCodeMatcher !== undefined) {
    const { comparator: op = "EQ", value = 0 } = statusCodeMatcher;
    return { status_code_filter: { comparison: { op, value: { default_value: value, runtime_key: "gloo-mesh.accesslog" } } } };
  }
  const { name = "", value = "", regex = false, invertMatch = false } = headerMatcher ?? {};
  const wanted = value === "" ? { present_match: true } : { string_match: regex ? { safe_regex: { regex: value } } : { exact: value } };
  return { header_filter: { header: { name: name.toLowerCase(), ...wanted, ...(invertMatch ? { invert_match: true } : {}) } } };
}
