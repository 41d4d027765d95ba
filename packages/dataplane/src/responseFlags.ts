import type { ResponseFlags } from "./gen/envoy/data/accesslog/v3/accesslog_pb.ts";

/** What Envoy says of a response beside its code, as its text logs have it, and in words. */
export interface ResponseFlag {
  readonly code: string;
  readonly meaning: string;
}

/** The flags that are set, in Envoy's order. */
export function responseFlagsOf(flags: ResponseFlags | undefined): readonly ResponseFlag[] {
  if (flags === undefined) return [];
  return Object.entries(FLAGS).flatMap(([name, [code, meaning]]) => {
    const value = flags[name as keyof typeof FLAGS];
    return value === undefined || value === false ? [] : [{ code, meaning }];
  });
}

type FlagName = Exclude<keyof ResponseFlags, `$${string}`>;

// Source: envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage, %RESPONSE_FLAGS%.
const FLAGS: Readonly<Record<FlagName, readonly [code: string, meaning: string]>> = {
  failedLocalHealthcheck: ["LH", "the proxy's own health check failed"],
  noHealthyUpstream: ["UH", "no healthy endpoint: none is ready, or outlier detection has ejected all"],
  upstreamRequestTimeout: ["UT", "the service did not answer within the timeout of the route"],
  localReset: ["LR", "the proxy reset the connection"],
  upstreamRemoteReset: ["UR", "the service reset the connection"],
  upstreamConnectionFailure: [
    "UF",
    "no connection to the service: nothing listens, the network does not let it through, or TLS settings differ",
  ],
  upstreamConnectionTermination: ["UC", "the service closed the connection before its answer was complete"],
  upstreamOverflow: ["UO", "the circuit breaker is open: too many connections or pending requests"],
  noRouteFound: ["NR", "no route matches the host and path, or no filter chain the connection"],
  delayInjected: ["DI", "fault injection delayed the request"],
  faultInjected: ["FI", "fault injection answered with an error"],
  rateLimited: ["RL", "a rate limit refused the request"],
  unauthorizedDetails: ["UAEX", "external authorization refused the request"],
  rateLimitServiceError: ["RLSE", "the rate limit service failed"],
  downstreamConnectionTermination: ["DC", "the caller closed the connection"],
  upstreamRetryLimitExceeded: ["URX", "all retries, or attempts to connect, failed"],
  streamIdleTimeout: ["SI", "nothing was sent within the idle timeout"],
  invalidEnvoyRequestHeaders: ["IH", "a header that Envoy checks strictly has an invalid value"],
  downstreamProtocolError: ["DPE", "the caller's HTTP is malformed"],
  upstreamMaxStreamDurationReached: ["UMSDR", "the request took longer than the longest duration of a stream"],
  responseFromCacheFilter: ["RFCF", "a cache answered"],
  noFilterConfigFound: ["NFCF", "a filter did not get its configuration in time"],
  durationTimeout: ["DT", "the request or the connection took longer than its longest duration"],
  upstreamProtocolError: ["UPE", "the service's HTTP is malformed, or it speaks another protocol than the port's name says"],
  noClusterFound: ["NC", "the route leads to a service or subset that the proxy does not know"],
  overloadManager: ["OM", "the proxy is overloaded"],
  dnsResolutionFailure: ["DF", "the host name could not be resolved"],
  downstreamRemoteReset: ["DR", "the caller reset the request"],
};

const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(FLAGS).map(([name, [code]]) => [code, name]));

/** The field of Envoy's `ResponseFlags` for a code; undefined for one that is none. */
export function responseFlagName(code: string): string | undefined {
  return NAMES.get(code);
}
