import type { ConsoleCertificate } from "@isthmus/console/wire";
import { millisecondsOf } from "./age.ts";
import { certificateStatus } from "./certificateRows.ts";
import type { Status } from "./status.ts";

const DAY_MS = 86_400_000;

/** The spans of time in which certificates end, from the past on. `untilMs`: from now; the last one has no end. */
const SPANS = [
  { id: "ended", untilMs: 0 },
  { id: "day", untilMs: DAY_MS },
  { id: "week", untilMs: 7 * DAY_MS },
  { id: "month", untilMs: 30 * DAY_MS },
  { id: "year", untilMs: 365 * DAY_MS },
  { id: "later", untilMs: Number.POSITIVE_INFINITY },
] as const;

export type SpanId = (typeof SPANS)[number]["id"] | "endless";

/** What ends within one span of time, what ends first first. */
export interface TimelineSpan {
  readonly id: SpanId;
  readonly ends: readonly { readonly certificate: ConsoleCertificate; readonly status: Status }[];
}

/**
 * Certificates by when they end: spans that grow, as those of an agent live for a day and roots for ten years. What has no known end, as the key of a
 * join token, comes last in a span of its own, which is there where there is such a one. `now` in milliseconds since 1970.
 */
export function certificateTimeline(certificates: readonly ConsoleCertificate[], now: number): readonly TimelineSpan[] {
  const byEnd = certificates
    .flatMap((certificate) => {
      const end = millisecondsOf(certificate.notAfter);
      return end === undefined ? [] : [{ certificate, end, status: certificateStatus(certificate, now) }];
    })
    .sort((a, b) => a.end - b.end);
  const endless = certificates.filter(({ notAfter }) => millisecondsOf(notAfter) === undefined);
  const spans = SPANS.map(({ id, untilMs }, i): TimelineSpan => {
    const from = now + (SPANS[i - 1]?.untilMs ?? Number.NEGATIVE_INFINITY);
    return {
      id,
      ends: byEnd.filter(({ end }) => end > from && end <= now + untilMs).map(({ certificate, status }) => ({ certificate, status })),
    };
  });
  if (endless.length === 0) return spans;
  return [...spans, { id: "endless", ends: endless.map((certificate) => ({ certificate, status: certificateStatus(certificate, now) })) }];
}
