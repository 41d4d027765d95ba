import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane/ports";
import { WaitTimeout } from "./waitTimeout.ts";

/** The user has ended the command: Ctrl-C, or a signal to end. The exit code is 130. */
export class Interrupted extends UsageError {}

/**
 * Catches SIGINT and SIGTERM from now on: the first one aborts the signal, so that the command undoes what it has made and ends by itself; a second
 * one ends the process at once.
 */
export type CatchInterrupts = () => AbortSignal;

/** Those of this process. `say` tells the user what the first one does. */
export function interruptsOf(process: Pick<NodeJS.Process, "on" | "exit">, say: (line: string) => void): CatchInterrupts {
  const controller = new AbortController();
  let isCaught = false;
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort(new Interrupted("interrupted"));
    say("interrupted: ending in order; once more ends at once");
  };
  return () => {
    if (!isCaught) for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, interrupt);
    isCaught = true;
    return controller.signal;
  };
}

/**
 * A cluster in which nothing is begun any more once `signal` is aborted: calls throw its reason. What is being read is given up; a write that is on its
 * way is waited for, as nobody could tell otherwise whether it was done.
 */
export function interruptible(cluster: Cluster, signal: AbortSignal): Cluster {
  const reading = (given: AbortSignal | undefined): AbortSignal => {
    signal.throwIfAborted();
    return given === undefined ? signal : AbortSignal.any([given, signal]);
  };
  const writing = (given: AbortSignal | undefined): AbortSignal | undefined => {
    signal.throwIfAborted();
    return given;
  };
  return {
    ...cluster,
    servedKinds: async (given) => cluster.servedKinds(reading(given)),
    get: async (kind, ref, given) => cluster.get(kind, ref, reading(given)),
    list: async (kind, options, given) => cluster.list(kind, options, reading(given)),
    apply: async (resource, options, given) => cluster.apply(resource, options, writing(given)),
    applyStatus: async (resource, options, given) => cluster.applyStatus(resource, options, writing(given)),
    create: async (resource, given) => cluster.create(resource, writing(given)),
    update: async (resource, given) => cluster.update(resource, writing(given)),
    updateStatus: async (resource, given) => cluster.updateStatus(resource, writing(given)),
    delete: async (ref, preconditions, given) => cluster.delete(ref, preconditions, writing(given)),
  };
}

/** An error with more to say that ends a command as `cause` does: by the same exit code. */
export function endedBy(cause: unknown, message: string): UsageError {
  if (cause instanceof Interrupted) return new Interrupted(message);
  return cause instanceof WaitTimeout ? new WaitTimeout(message) : new UsageError(message);
}
