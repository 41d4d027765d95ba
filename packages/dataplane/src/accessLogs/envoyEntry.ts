import { responseFlagName } from "../responseFlags.ts";
import type { AccessLog } from "./accessLog.ts";

/**
 * What is known of an entry, in the form of Envoy's `HTTPAccessLogEntry` or `TCPAccessLogEntry` as JSON: what agents leave out, such as addresses, is
 * not there. Source: envoyproxy.io/docs/envoy/latest/api-v3/data/accesslog/v3/accesslog.proto, protobuf's JSON mapping.
 */
export function envoyEntryOf(log: AccessLog): { readonly httpAccessLog: object } | { readonly tcpAccessLog: object } {
  const { time, flags, failure, durationMs, upstreamMs, receivedBytes, sentBytes } = log;
  const set = flags.flatMap(({ code }) => responseFlagName(code) ?? []);
  const responseFlags = Object.fromEntries(set.map((name) => [name, name === "unauthorizedDetails" ? {} : true]));
  const commonProperties = {
    startTime: time,
    ...(durationMs === undefined ? {} : { duration: seconds(durationMs) }),
    ...(upstreamMs === undefined ? {} : { timeToLastUpstreamRxByte: seconds(upstreamMs) }),
    ...(set.length === 0 ? {} : { responseFlags }),
    ...(failure === undefined ? {} : { upstreamTransportFailureReason: failure }),
  };
  if (log.protocol === "tcp") {
    const connectionProperties = { receivedBytes: String(receivedBytes), sentBytes: String(sentBytes) };
    return { tcpAccessLog: { commonProperties, connectionProperties } };
  }
  const { method, authority, path, requestId, requestHeaders, status, statusDetails, responseHeaders, responseTrailers } = log;
  const request = {
    ...present({ requestMethod: method, authority, path, requestId, requestHeaders }),
    requestBodyBytes: String(receivedBytes),
  };
  const response = {
    ...present({ responseCode: status, responseCodeDetails: statusDetails, responseHeaders, responseTrailers }),
    responseBodyBytes: String(sentBytes),
  };
  return { httpAccessLog: { commonProperties, request, response } };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(6)}s`;
}

function present(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
