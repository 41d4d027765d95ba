/** Inputs with these numbers, from the first on. */
export interface Block {
  readonly from: number;
  readonly count: number;
}

/** What a process is ordered to do, one after the other. */
export type Order = { readonly type: "block"; readonly block: Block } | { readonly type: "end" };

/** How an input failed. `ended`: the process did, without a word; `stalled`: it gave no sign of life. The last two the parent notices. */
export type FailureType = "threw" | "uncaught" | "slow" | "grew" | "ended" | "stalled";

export interface Failure {
  readonly type: FailureType;
  readonly input: number;
  /** The first input that it may be due to, where the process heard of it only later. */
  readonly since?: number;
  /** For people: a stack trace where there is one. */
  readonly detail: string;
}

/** What a process says of itself. */
export type Word =
  | { readonly type: "ready" }
  | { readonly type: "skipped"; readonly reason: string }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "done"; readonly inputs: number; readonly bytes: number };

/** What a process is started with. */
export interface Errand {
  readonly target: string;
  readonly seed: number;
  /** Where it writes the number of the input that it takes next, before it does. */
  readonly progressFile: string;
  /** An input as it is, instead of drawn ones: a file. */
  readonly file?: string;
  /** Waits after each input for what it set off: slower, and it is known which one it was. */
  readonly isExact?: boolean;
}
