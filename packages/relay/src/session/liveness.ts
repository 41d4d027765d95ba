/** When to say that one is there, and when to give the other end up. Times are those of `uptimeOf` (packages/core/src/clock.ts). */
export interface Liveness {
  readonly intervalMs: number;
  readonly saidAt: number;
  readonly heardAt: number;
}

/** Before the server has said how often, and for how long a stream may stay without its first message. */
const GREETING_MS = 10_000;

/** Three missed heartbeats: one may be late, two may be lost to a pause of either process. */
const MISSED = 3;

export function startLiveness(now: number): Liveness {
  return { intervalMs: GREETING_MS, saidAt: now, heardAt: now };
}

export function onReceived(liveness: Liveness, now: number): Liveness {
  return { ...liveness, heardAt: now };
}

export function onSent(liveness: Liveness, now: number): Liveness {
  return { ...liveness, saidAt: now };
}

export function isHeartbeatDue({ intervalMs, saidAt }: Liveness, now: number): boolean {
  return now >= saidAt + intervalMs;
}

export function isOverdue({ intervalMs, heardAt }: Liveness, now: number): boolean {
  return now >= heardAt + MISSED * intervalMs;
}

/** The next moment at which something may be due. */
export function nextCheck({ intervalMs, saidAt, heardAt }: Liveness): number {
  return Math.min(saidAt + intervalMs, heardAt + MISSED * intervalMs);
}
