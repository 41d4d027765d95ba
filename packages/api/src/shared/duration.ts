import { Type } from "@sinclair/typebox";
import type { SchemaOptions } from "./schema.ts";

const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
const PART = "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h)";
/** What `duration` texts look like; schemas of durations have exactly this pattern. */
export const DURATION_PATTERN = `^[-+]?(?:0|(?:${PART})+)$`;
const DURATION = new RegExp(DURATION_PATTERN);
// As nearly all are written.
const WHOLE = /^([0-9]{1,9})(ns|us|ms|s|m|h)$/;

/** A length of time as Go writes it: `100ms`, `1h30m`, `5s`. Source: pkg.go.dev/time#ParseDuration. */
export function duration(options: SchemaOptions = {}) {
  return Type.String({ pattern: DURATION_PATTERN, wanted: 'a duration such as "5s", "100ms" or "1h30m"', ...options });
}

/** Nanoseconds of a duration; undefined for a text that is none. Exact to the nanosecond up to 104 days. */
export function nanosecondsOf(text: string): number | undefined {
  const [, count, only = ""] = WHOLE.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (UNITS[only] ?? 1);
  if (!DURATION.test(text)) return undefined;
  const sign = text.startsWith("-") ? -1 : 1;
  let sum = 0;
  for (const [, number = "0", unit = "ns"] of text.matchAll(/([0-9.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [whole = "0", fraction = ""] = number.split(".");
    const scale = UNITS[unit] ?? 1;
    // Whole and fraction apart: a product of a decimal fraction and a power of ten would not be exact.
    sum += Number(whole || "0") * scale + Math.trunc(Number(`${fraction || "0"}e${-fraction.length}`) * scale + 1e-6);
  }
  return sign * sum;
}

/**
 * A duration the way Istio's own objects write it: seconds with 0, 3, 6 or 9 decimals and `s`, such as `0.100s`.
 * Source: protobuf's JSON mapping of google.protobuf.Duration.
 */
export function durationText(nanoseconds: number): string {
  const sign = nanoseconds < 0 ? "-" : "";
  const absolute = Math.abs(nanoseconds);
  const seconds = Math.floor(absolute / 1e9);
  const rest = String(absolute - seconds * 1e9).padStart(9, "0");
  const decimals = rest.endsWith("000000000") ? 0 : rest.endsWith("000000") ? 3 : rest.endsWith("000") ? 6 : 9;
  return `${sign}${seconds}${decimals === 0 ? "" : `.${rest.slice(0, decimals)}`}s`;
}

/** `durationText` of a duration in any accepted spelling; the text itself when it is none. */
export function canonicalDuration(text: string): string {
  const nanoseconds = nanosecondsOf(text);
  return nanoseconds === undefined ? text : durationText(nanoseconds);
}
