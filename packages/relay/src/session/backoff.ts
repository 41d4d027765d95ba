import type { RelayErrorCode } from "./relayError.ts";

/** The shortest and the longest pause before an agent connects again, in milliseconds. Source: decisions §5, 1 s to 30 s. */
const FIRST_MS = 1_000;
const LAST_MS = 30_000;

/**
 * A connection that lived this long was a good one: the next failure counts as the first again. One heartbeat's time: servers
 * that are replaced one after the other, as a rollout does, must not make agents wait longer each time.
 */
export const SETTLED_MS = 10_000;

/**
 * How long to wait before try `attempt` (1 is the first retry), with a jitter of half; `random` gives 0..1. What a person
 * has to mend waits longest at once: trying more often would only fill the logs and trip the server's throttle.
 */
export function backoffMs(attempt: number, code: RelayErrorCode, random: () => number): number {
  const full = NEEDS_A_PERSON.has(code) ? LAST_MS : Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 30));
  return Math.max(FIRST_MS, full / 2 + (full / 2) * random());
}

const NEEDS_A_PERSON: ReadonlySet<RelayErrorCode> = new Set(["UntrustedServer", "WrongToken", "ClusterNameTaken", "Refused", "Throttled"]);
