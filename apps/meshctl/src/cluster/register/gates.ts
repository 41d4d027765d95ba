import { type Clock, messageOf, UsageError, uptimeOf } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { WaitTimeout } from "../waitTimeout.ts";

/** The stages of a registration, in their order, `values` only where it has some; then those that only the installation of the management plane has. */
export type GateName =
  | "address"
  | "values"
  | "token"
  | "pods"
  | "TLS"
  | "certificate"
  | "first snapshot"
  | "precheck"
  | "CRDs"
  | "objects"
  | "Secrets";

/** A gate that did not open. The message says why, `next` what shows more. */
export class GateFailure extends UsageError {
  readonly gate: GateName;
  readonly next: readonly string[];
  /** Why: an interruption and a timeout end a command otherwise than a failure. */
  readonly reason: Error;

  constructor(gate: GateName, cause: Error, next: readonly string[]) {
    super(messageOf(cause));
    this.gate = gate;
    this.next = next;
    this.reason = cause;
  }
}

/** What is to be shown of a gate. */
export interface GateResult {
  readonly gate: GateName;
  readonly isOpen: boolean;
  /** Milliseconds that it took. */
  readonly tookMs: number;
  readonly text: string;
}

/** What one look at a gate gives: it is open, it is not open yet, or it will never be. */
export type Look = { readonly open: string } | { readonly waiting: string } | { readonly failed: string };

export interface GateKeeper {
  /** Opens a gate by doing something, which gives what to say of it. */
  pass(gate: GateName, next: readonly string[], work: () => Promise<string>): Promise<void>;
  /** Waits until a gate is open. */
  wait(gate: GateName, next: readonly string[], look: () => Promise<Look>): Promise<void>;
}

export interface GateOptions {
  readonly clock: Clock;
  /** How long to wait for all gates together. */
  readonly timeoutMs: number;
  readonly passed: (result: GateResult) => void;
  /** What is being waited for; "" for nothing any more. */
  readonly progress: (text: string) => void;
  /** Aborted when the user has ended the command: no gate opens any more. */
  readonly interrupt: AbortSignal;
}

/** Keeps the gates of one command. Each rejects with GateFailure when it does not open. */
export function gateKeeper({ clock, timeoutMs, passed, progress, interrupt }: GateOptions): GateKeeper {
  const until = uptimeOf(clock) + timeoutMs;

  async function through(gate: GateName, next: readonly string[], work: () => Promise<string>): Promise<void> {
    const began = uptimeOf(clock);
    const tookMs = () => uptimeOf(clock) - began;
    progress(`${gate} ...`);
    try {
      interrupt.throwIfAborted();
      const text = await work();
      progress("");
      passed({ gate, isOpen: true, tookMs: tookMs(), text });
    } catch (error) {
      progress("");
      if (!(error instanceof UsageError || error instanceof ClusterError)) throw error;
      passed({ gate, isOpen: false, tookMs: tookMs(), text: messageOf(error) });
      throw new GateFailure(gate, error, next);
    }
  }

  async function opened(gate: GateName, look: () => Promise<Look>): Promise<string> {
    for (;;) {
      const seen = await seenBy(look);
      if ("open" in seen) return seen.open;
      if ("failed" in seen) throw new UsageError(seen.failed);
      progress(`${gate}: ${seen.waiting}`);
      if (uptimeOf(clock) >= until) throw new WaitTimeout(`${seen.waiting} (waited ${timeoutMs / 1000} s: --timeout)`);
      await clock.sleep(Math.min(POLL_MS, Math.max(1, until - uptimeOf(clock))), interrupt);
    }
  }

  return {
    pass: through,
    wait: (gate, next, look) => through(gate, next, () => opened(gate, look)),
  };
}

/** An API server that does not answer for a moment is no reason to give up. */
async function seenBy(look: () => Promise<Look>): Promise<Look> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ClusterError && error.code === "Unavailable") return { waiting: error.message };
    throw error;
  }
}

const POLL_MS = 250;
