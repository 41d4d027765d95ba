const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `callback` when a signal that is not aborted yet is; the result takes that back. However many wait for one signal, it
 * has one listener: Node warns of a leak at more than ten.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = callbacksOf.get(signal);
  if (callbacks === undefined) {
    const waiting = new Set<() => void>();
    const callAll = () => {
      for (const call of [...waiting]) call();
    };
    signal.addEventListener("abort", callAll, { once: true });
    callbacksOf.set(signal, waiting);
    callbacks = waiting;
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}
