import { type SignalRates, signalRates } from "@isthmus/core";
import { t } from "../../strings.ts";
import type { CountedEdge } from "./traffic.ts";

/** What was counted, in words; "" for what nothing is known of. */
export interface TrafficTexts {
  readonly rate: string;
  readonly errors: string;
  readonly p50: string;
  readonly p95: string;
  readonly p99: string;
  readonly bytes: string;
}

/** Means over the time that was counted. */
export function trafficRates({ signals, seconds }: Pick<CountedEdge, "signals" | "seconds">): SignalRates {
  return signalRates(signals, seconds);
}

/** Of connections there are bytes, and no requests. */
export function trafficTexts(rates: SignalRates): TrafficTexts {
  const has = rates.requests > 0;
  return {
    rate: has ? rateText(rates.requestsPerSecond) : "",
    errors: has ? `${rates.errorPercent} %` : "",
    p50: millisecondsText(rates.p50Ms),
    p95: millisecondsText(rates.p95Ms),
    p99: millisecondsText(rates.p99Ms),
    bytes: bytesText(rates.requestBytesPerSecond + rates.responseBytesPerSecond),
  };
}

/** Of an edge of the graph: what matters most, as long as it fits. */
export function trafficLabel(rates: SignalRates): string {
  const { rate, p95, bytes } = trafficTexts(rates);
  if (rate === "") return t.traffic.perSecond(bytes);
  return [
    t.traffic.perSecond(rate),
    ...(rates.errors > 0 ? [t.traffic.errorsOf(String(rates.errorPercent))] : []),
    ...(p95 === "" ? [] : [t.traffic.durationOf(t.traffic.p95, p95)]),
  ].join(" · ");
}

/** A rate that is not zero is not shown as zero. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return "0";
  if (perSecond < 0.01) return "< 0.01";
  return perSecond < 10 ? perSecond.toFixed(2) : perSecond < 100 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

function millisecondsText(ms: number | undefined): string {
  if (ms === undefined) return "";
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

function bytesText(bytes: number): string {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  return bytes >= 1e3 ? `${(bytes / 1e3).toFixed(1)} kB` : `${Math.round(bytes)} B`;
}
