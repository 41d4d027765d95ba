import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
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

/** What work gives; rejects with the reason of the signal as soon as it is aborted: what is still on its way then is of no use to anybody. */
export async function orInterrupted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return Promise.race([work(), endOf(signal)]);
}

// One for all calls of a command: many are made at once.
const ENDS = new WeakMap<AbortSignal, Promise<never>>();

function endOf(signal: AbortSignal): Promise<never> {
  const known = ENDS.get(signal);
  if (known !== undefined) return known;
  const end = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  // Also where nothing waits for it any more.
  end.catch(() => undefined);
  ENDS.set(signal, end);
  return end;
}

/**
 * A cluster in which nothing is begun any more once `signal` is aborted: calls throw its reason. What is being read is given up; a write that is on its
 * way is waited for, as nobody could tell otherwise whether it was done, unless `losesWrites` says that nobody has to.
 */
export function interruptible(cluster: Cluster, signal: AbortSignal, { losesWrites = false } = {}): Cluster {
  const within = (given: AbortSignal | undefined): AbortSignal => (given === undefined ? signal : AbortSignal.any([given, signal]));
  // Not each part of a read hears its signal: others may wait for the same.
  const read = <T>(work: (until: AbortSignal) => Promise<T>, given: AbortSignal | undefined): Promise<T> =>
    orInterrupted(() => work(within(given)), signal);
  const write = async <T>(work: (until: AbortSignal | undefined) => Promise<T>, given: AbortSignal | undefined): Promise<T> => {
    if (losesWrites) return read(work, given);
    signal.throwIfAborted();
    return work(given);
  };
  return {
    ...cluster,
    servedKinds: (given) => read((until) => cluster.servedKinds(until), given),
    get: (kind, ref, given) => read((until) => cluster.get(kind, ref, until), given),
    list: (kind, options, given) => read((until) => cluster.list(kind, options, until), given),
    apply: (resource, options, given) => write((until) => cluster.apply(resource, options, until), given),
    applyStatus: (resource, options, given) => write((until) => cluster.applyStatus(resource, options, until), given),
    create: (resource, given) => write((until) => cluster.create(resource, until), given),
    update: (resource, given) => write((until) => cluster.update(resource, until), given),
    updateStatus: (resource, given) => write((until) => cluster.updateStatus(resource, until), given),
    delete: (ref, preconditions, given) => write((until) => cluster.delete(ref, preconditions, until), given),
  };
}

/** An error with more to say that ends a command as `cause` does: by the same exit code. */
export function endedBy(cause: unknown, message: string): UsageError {
  if (cause instanceof Interrupted) return new Interrupted(message);
  return cause instanceof WaitTimeout ? new WaitTimeout(message) : new UsageError(message);
}
