import { CODE_CLASSES, DURATION_BOUNDS, SIGNAL_AT, type Signals } from "./goldenSignals.ts";

/** What somebody reads of the traffic between two workloads: means over the time in which it was counted. */
export interface SignalRates {
  readonly requests: number;
  /** Responses with 5xx, and requests without a response. */
  readonly errors: number;
  readonly requestsPerSecond: number;
  readonly errorPercent: number;
  /** Durations in milliseconds that so many percent of the requests stay below; undefined without requests. */
  readonly p50Ms?: number;
  readonly p90Ms?: number;
  readonly p95Ms?: number;
  readonly p99Ms?: number;
  readonly requestBytesPerSecond: number;
  readonly responseBytesPerSecond: number;
}

/** Of what was counted in `seconds`, with two places. */
export function signalRates(signals: Signals, seconds: number): SignalRates {
  const requests = requestsIn(signals);
  const errors = errorsIn(signals);
  const perSecond = (count: number | undefined) => rounded((count ?? 0) / Math.max(1, seconds));
  return {
    requests: rounded(requests),
    errors: rounded(errors),
    requestsPerSecond: perSecond(requests),
    errorPercent: requests === 0 ? 0 : rounded((errors / requests) * 100),
    ...quantiles(signals),
    requestBytesPerSecond: perSecond(signals[SIGNAL_AT.requestBytes]),
    responseBytesPerSecond: perSecond(signals[SIGNAL_AT.responseBytes]),
  };
}

/** Requests with whatever code, or none. */
export function requestsIn(signals: Signals): number {
  return CODE_CLASSES.reduce((sum, _, at) => sum + (signals[SIGNAL_AT.codes + at] ?? 0), 0);
}

/** Requests that got a 5xx, or no response. */
export function errorsIn(signals: Signals): number {
  return (signals[SIGNAL_AT.codes] ?? 0) + (signals[SIGNAL_AT.codes + CODE_CLASSES.indexOf("5xx")] ?? 0);
}

function quantiles(signals: Signals): Pick<SignalRates, "p50Ms" | "p90Ms" | "p95Ms" | "p99Ms"> {
  const buckets = signals.subarray(SIGNAL_AT.buckets, SIGNAL_AT.buckets + DURATION_BOUNDS.length + 1);
  const [p50Ms, p90Ms, p95Ms, p99Ms] = [0.5, 0.9, 0.95, 0.99].map((part) => {
    const value = bucketQuantile(buckets, DURATION_BOUNDS, part);
    return value === undefined ? undefined : rounded(value);
  });
  if (p50Ms === undefined || p90Ms === undefined || p95Ms === undefined || p99Ms === undefined) return {};
  return { p50Ms, p90Ms, p95Ms, p99Ms };
}

/**
 * What so great a part of the counted values stays below, as PromQL's histogram_quantile says it: even within a bucket, and the highest bound for what is above it. `buckets` are
 * not cumulative, and one more than `bounds`; undefined without a value.
 */
export function bucketQuantile(buckets: Iterable<number>, bounds: readonly number[], part: number): number | undefined {
  const counts = [...buckets];
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all <= 0) return undefined;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    const [from, to] = [bounds[at - 1] ?? 0, bounds[at]];
    if (to === undefined) break;
    if (count > 0 && below + count >= all * part) return from + ((all * part - below) / count) * (to - from);
    below += count;
  }
  return bounds.at(-1);
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
