import { type Clock, onAbort } from "@isthmus/core";

/**
 * Runs `work` after each request, one run at a time. Requests that come while a run is on, within `pauseMs` before it or
 * `restMs` after it share one run: nothing queues up. A throw of `work` is our fault and rejects `ended`.
 */
export interface Coalesced {
  request(): void;
  readonly ended: Promise<void>;
}

/**
 * `work` runs for the first time after the first `request`; when `signal` is aborted, the run under way is the last. `pauseMs` and `restMs`
 * are milliseconds.
 */
export function coalesced(
  work: () => void | Promise<void>,
  { clock, pauseMs, restMs = 0 }: { readonly clock: Clock; readonly pauseMs: number; readonly restMs?: number },
  signal: AbortSignal,
): Coalesced {
  let wake: (() => void) | undefined;
  let requested = false;

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      if (!requested) {
        await new Promise<void>((resolve) => {
          const forget = onAbort(signal, resolve);
          wake = () => {
            forget();
            resolve();
          };
        });
        wake = undefined;
        continue;
      }
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      requested = false;
      try {
        await work();
      } catch (error) {
        // What was given up half-way, as nobody wants it any more, is no fault.
        if (!signal.aborted) throw error;
      }
      if (restMs > 0) await clock.sleep(restMs, signal).catch(() => undefined);
    }
  }

  return {
    request() {
      requested = true;
      wake?.();
    },
    ended: loop(),
  };
}
