import { type Clock, onAbort } from "@isthmus/core";

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = after(ms, () => {
        forget?.();
        resolve();
      });
      const forget =
        signal &&
        onAbort(signal, () => {
          cancel();
          reject(signal.reason);
        });
    }),
};

/**
 * Gives what calls it off. No timer is due before a millisecond has passed: who only gives way to others does not wait for one, but in a
 * browser, which has nothing else.
 */
function after(ms: number, done: () => void): () => void {
  if (ms <= 0 && typeof setImmediate === "function") {
    const immediate = setImmediate(done);
    return () => clearImmediate(immediate);
  }
  const timer = setTimeout(done, ms);
  return () => clearTimeout(timer);
}
