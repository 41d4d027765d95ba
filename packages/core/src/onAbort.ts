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

/**
 * A controller that is aborted with its parent, for the same reason. Unlike the signal of `AbortSignal.any` it holds nothing once
 * nobody holds the parent: Node keeps a composed signal that somebody listens to for as long as the process runs, with all that
 * its listeners refer to. It stays with the parent until `signal` is aborted.
 */
export function abortedWith(parent: AbortSignal): AbortController {
  const controller = new AbortController();
  if (parent.aborted) {
    controller.abort(parent.reason);
    return controller;
  }
  const forget = onAbort(parent, () => controller.abort(parent.reason));
  onAbort(controller.signal, forget);
  return controller;
}

/**
 * A signal that is aborted with `parent`, or after `ms` milliseconds with a TimeoutError. In place of `AbortSignal.timeout` below `AbortSignal.any`: nothing
 * holds that timeout, and once Node 20 has collected it the composed signal is never aborted.
 */
export function abortedAfter(ms: number, parent?: AbortSignal): AbortSignal {
  const controller = parent === undefined ? new AbortController() : abortedWith(parent);
  if (controller.signal.aborted) return controller.signal;
  const timer: unknown = setTimeout(
    () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
    ms,
  );
  // As of AbortSignal.timeout, no process waits for it. In browsers a timer is a number.
  if (typeof timer === "object") (timer as { unref(): void }).unref();
  onAbort(controller.signal, () => clearTimeout(timer as number));
  return controller.signal;
}
