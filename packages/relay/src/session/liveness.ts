/** When to say that one is there, and when to give the other end up. Times are those of `uptimeOf` (packages/core/src/clock.ts). */
export interface Liveness {
  readonly intervalMs: number;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Before the server has said how often, and for how long a stream may stay without its first message. */
const GREETING_MS = 10_000;

/** Three missed heartbeats: one may be late, two may be lost to a pause of either process. */
const MISSED = 3;

/** The liveness of a stream that was opened at `now`; its interval is 10 s until hello and welcome are exchanged. */
export function startLiveness(now: number): Liveness {
  return { intervalMs: GREETING_MS, sentAt: now, receivedAt: now };
}

/** The liveness after any message of the other end, which arrived at `now`. */
export function onReceived(liveness: Liveness, now: number): Liveness {
  return { ...liveness, receivedAt: now };
}

/** The liveness after a heartbeat at `now`: the next one is due an interval later, whatever else is sent meanwhile. */
export function onSent(liveness: Liveness, now: number): Liveness {
  return { ...liveness, sentAt: now };
}

/** Whether an interval has passed since the last heartbeat. */
export function isHeartbeatDue({ intervalMs, sentAt }: Liveness, now: number): boolean {
  return now >= sentAt + intervalMs;
}

/** Whether nothing has arrived for three intervals: the other end is unreachable, and the stream must end. */
export function isOverdue({ intervalMs, receivedAt }: Liveness, now: number): boolean {
  return now >= receivedAt + MISSED * intervalMs;
}

/** The next moment at which something may be due. */
export function nextCheck({ intervalMs, sentAt, receivedAt }: Liveness): number {
  return Math.min(sentAt + intervalMs, receivedAt + MISSED * intervalMs);
}
