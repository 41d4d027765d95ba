import type { Clock, Log } from "@isthmus/core";

export const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** How the client of gRPC sends what is encoded already. */
export const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes);

export const wallClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    }),
};
