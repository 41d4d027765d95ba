import type { CooperativeTask } from "@isthmus/core";

// Half of a frame: the page scrolls and takes keys meanwhile.
const SLICE_MS = 8;

/** Does a task in slices, between which the browser has its turn. Rejects with the signal's reason once it is aborted. */
export async function inSlices<T>(task: CooperativeTask<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      const step = task.next();
      if (step.done === true) return step.value;
    }
    await turn();
  }
}

/** Timers wait for at least four milliseconds, messages do not. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
