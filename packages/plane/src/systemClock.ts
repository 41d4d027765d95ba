import { onAbort } from "@isthmus/core";
import type { Clock } from "./ports.ts";

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        forget?.();
        resolve();
      }, ms);
      const forget =
        signal &&
        onAbort(signal, () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
    }),
};
