import { onAbort } from "@isthmus/core";
import type { StoreNotice } from "@isthmus/ports";

/** Who listens to a store within this process. Notices arrive in order, after the call that brought them about. */
export interface Subscribers {
  tell(notice: StoreNotice): void;
  add(hear: (notice: StoreNotice) => void, signal: AbortSignal): void;
}

/** Nobody listens at first; a notice reaches those who were added before it and are not aborted when it arrives. */
export function subscribers(): Subscribers {
  const listeners = new Set<(notice: StoreNotice) => void>();
  return {
    tell(notice) {
      for (const hear of listeners) {
        queueMicrotask(() => {
          if (listeners.has(hear)) hear(notice);
        });
      }
    },
    add(hear, signal) {
      // Of its own, so that one function may listen twice.
      const listener = (notice: StoreNotice) => hear(notice);
      if (signal.aborted) return;
      listeners.add(listener);
      onAbort(signal, () => listeners.delete(listener));
    },
  };
}
