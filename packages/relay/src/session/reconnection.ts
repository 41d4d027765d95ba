import { backoffMs } from "@isthmus/core";
import type { RelayErrorCode } from "./relayError.ts";

// An agent connects again after 1 s at the earliest, as the jitter takes half at most, and 30 s at the latest. Source: decisions §5.
const RETRY = { firstMs: 2_000, lastMs: 30_000 };
// What a person has to mend waits longest at once: trying more often would only fill the logs and trip the server's throttle.
const MENDED = { firstMs: RETRY.lastMs, lastMs: RETRY.lastMs };

/**
 * A connection that lived this long was a good one: the next failure counts as the first again. One heartbeat's time: servers
 * that are replaced one after the other, as a rollout does, must not make agents wait longer each time.
 */
export const STABLE_AFTER_MS = 10_000;

/** How long an agent waits, in ms, before it connects for the `attempt`-th time again (1 is the first). `random` gives 0..1. */
export function reconnectMs(attempt: number, code: RelayErrorCode, random: () => number): number {
  return backoffMs(attempt, NEEDS_A_PERSON.has(code) ? MENDED : RETRY, random);
}

const NEEDS_A_PERSON: ReadonlySet<RelayErrorCode> = new Set([
  "UntrustedServer",
  "WrongToken",
  "ClusterNameTaken",
  "Deregistered",
  "Refused",
  "Throttled",
]);
