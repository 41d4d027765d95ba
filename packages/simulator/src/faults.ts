import type { Clock, ResourceRef } from "@isthmus/core";
import { ClusterError, type ClusterErrorCode } from "@isthmus/ports";

/** A call of the Cluster port, as faults tell calls apart. */
export type Verb =
  | "servedKinds"
  | "get"
  | "list"
  | "watch"
  | "apply"
  | "applyStatus"
  | "create"
  | "update"
  | "updateStatus"
  | "delete"
  | "evict";

/** What a call is about; `name` and `namespace` are "" where it is about a whole kind. */
export interface Call {
  readonly verb: Verb;
  readonly ref: Omit<ResourceRef, "clusterName">;
}

/** A failure of calls to come. */
export interface Fault {
  readonly code: ClusterErrorCode;
  /** Which calls fail. Default: every write. */
  readonly matches?: (call: Call) => boolean;
  /** How many of them. Default: 1. */
  readonly times?: number;
  /** The write is made all the same and only its answer is lost, as when a connection breaks. */
  readonly afterWrite?: boolean;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

const WRITES: ReadonlySet<Verb> = new Set(["apply", "applyStatus", "create", "update", "updateStatus", "delete", "evict"]);

/** What goes wrong between a client and a simulated API server. */
export class FaultPlan {
  #faults: { readonly fault: Fault; left: number }[] = [];
  #delayMs = 0;
  #isReachable = true;
  #stale = { revision: 0, left: 0 };

  /** The next `times` lists show the state of `revision`. */
  showOld(revision: number, times: number): void {
    this.#stale = { revision, left: times };
  }

  /** Which state the list that is being answered shows; undefined: the latest. */
  takeOld(): number | undefined {
    if (this.#stale.left <= 0) return undefined;
    this.#stale.left--;
    return this.#stale.revision;
  }

  get delayMs(): number {
    return this.#delayMs;
  }

  set delayMs(delayMs: number) {
    this.#delayMs = delayMs;
  }

  get isReachable(): boolean {
    return this.#isReachable;
  }

  set isReachable(isReachable: boolean) {
    this.#isReachable = isReachable;
  }

  add(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#faults = [];
    this.#delayMs = 0;
    this.#isReachable = true;
    this.#stale.left = 0;
  }

  /** Answers a call, or fails it as planned. Without a delay the answer is made at once, in the order of the calls. */
  async answer<T>(call: Call, { clock, signal, work }: { clock: Clock; signal: AbortSignal | undefined; work: () => T }): Promise<T> {
    signal?.throwIfAborted();
    if (this.#delayMs > 0) await clock.sleep(this.#delayMs, signal);
    if (!this.#isReachable) throw unreachable();
    const fault = this.#take(call);
    if (fault === undefined) return work();
    if (fault.afterWrite === true) work();
    const message = fault.message ?? `${call.verb} ${call.ref.kind} ${call.ref.name}: simulated ${fault.code}`;
    throw new ClusterError(fault.code, message, fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs });
  }

  #take(call: Call): Fault | undefined {
    const planned = this.#faults.find(({ fault }) => (fault.matches === undefined ? WRITES.has(call.verb) : fault.matches(call)));
    if (planned === undefined) return undefined;
    planned.left--;
    if (planned.left <= 0) this.#faults = this.#faults.filter((other) => other !== planned);
    return planned.fault;
  }
}

/** What every call of a cluster that cannot be reached rejects with. */
export function unreachable(): ClusterError {
  return new ClusterError("Unavailable", "the API server cannot be reached");
}
