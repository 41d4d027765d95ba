import { setMaxListeners } from "node:events";
import { messageOf, UsageError } from "@isthmus/core";
import { CommanderError } from "commander";

/**
 * Runs a program until it is done, or until SIGINT or SIGTERM aborts the signal that it gets. Gives the exit code: 0 when all
 * went well or it was stopped, 1 when the world failed it, 2 for a mistake of the person who runs it. Those are printed in one
 * line; anything else is our fault and is thrown, with its stack.
 */
export async function runProgram(work: (signal: AbortSignal) => Promise<void>): Promise<number> {
  const stop = new AbortController();
  // Every watch of every kind listens to it.
  setMaxListeners(0, stop.signal);
  const stopped = (name: string) => () => stop.abort(new Error(`stopped by ${name}`));
  const [onInterrupt, onTerminate] = [stopped("SIGINT"), stopped("SIGTERM")];
  process.once("SIGINT", onInterrupt).once("SIGTERM", onTerminate);
  try {
    await work(stop.signal);
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    return exitCodeOf(error);
  } finally {
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
    // What was started before a failure must not keep the process alive.
    stop.abort(new Error("the program has ended"));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version have been printed, and are no failure.
    if (error.exitCode === 0) return 0;
    tell(error.message);
    return 2;
  }
  if (error instanceof UsageError) {
    tell(`error: ${error.message}`);
    return 2;
  }
  if (error instanceof Error && WORLD.has(error.name)) {
    tell(`error: ${messageOf(error)}`);
    return 1;
  }
  throw error;
}

// By name, as this package knows neither the loops nor the relay: what an API server, the other end of the relay or the store refuses.
const WORLD: ReadonlySet<string> = new Set(["ClusterError", "RelayError", "StoreError"]);

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
