import type { Clock } from "@isthmus/core";
import { MAX_OUTCOMES_BYTES, parseWasmOutcomes, type WasmOutcome } from "@isthmus/dataplane";
import type { Leadership } from "@isthmus/plane";
import type { ReplicaClient } from "./replicas.ts";

/** Topic of the query of what became of Wasm filters at the proxies of a replica. */
export const WASM_OUTCOMES_TOPIC = "wasm-outcomes";

/** What became of Wasm filters at the proxies that are connected to other replicas. */
export interface OtherOutcomes {
  /** Of the replicas that answered last; none while this one does not lead, as the others need not know. */
  readonly outcomes: readonly WasmOutcome[];
  readonly ended: Promise<void>;
}

/** Asks the other replicas every 10 s while this one leads, until `signal` is aborted, and calls `changed` when they say something else. */
export function startOtherOutcomes(
  options: {
    readonly replicas: ReplicaClient;
    readonly leadership: Pick<Leadership, "isLeader">;
    readonly changed: () => void;
    readonly everyMs?: number;
    readonly clock: Clock;
  },
  signal: AbortSignal,
): OtherOutcomes {
  const { replicas, leadership, changed, everyMs = EVERY_MS, clock } = options;
  const query = { topic: WASM_OUTCOMES_TOPIC, body: new Uint8Array(), mostBytes: MAX_OUTCOMES_BYTES, read: parseWasmOutcomes };
  let outcomes: readonly WasmOutcome[] = [];
  let text = "[]";

  async function run(): Promise<void> {
    for (;;) {
      await clock.sleep(everyMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      outcomes = leadership.isLeader ? (await replicas.ask(query)).answers.flat() : [];
      const now = JSON.stringify(outcomes);
      if (now === text) continue;
      text = now;
      changed();
    }
  }

  return {
    get outcomes() {
      return outcomes;
    },
    ended: run(),
  };
}

const EVERY_MS = 10_000;
