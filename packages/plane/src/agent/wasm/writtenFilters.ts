import { EnvoyFilter } from "@isthmus/api";
import { type Clock, type Delta, kindKeyOf, type Log, messageOf, type Owner, type Resource, refOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { bearsLabelOf, isWrittenByUs } from "../../apply/ownership.ts";
import type { Informer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import { forgetOrders, hasOrders } from "./wasmOrders.ts";

/** Which EnvoyFilters with our label our field manager has written: who may write EnvoyFilters may set any label. */
export interface WrittenFilters {
  isOurs(filter: Resource): boolean;
  /** Whether each of those that the view has is judged. */
  readonly isEvaluated: boolean;
  observed(delta: Delta): void;
  readonly ended: Promise<void>;
}

/** Where none are served. */
export const NO_FILTERS: WrittenFilters = { isOurs: () => false, isEvaluated: true, observed: () => undefined, ended: Promise.resolve() };

export interface WrittenFiltersOptions {
  readonly cluster: Pick<Cluster, "get">;
  readonly view: Pick<Informer, "snapshot" | "isComplete">;
  readonly owners: readonly Owner[];
  /** One more is judged. */
  readonly changed: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Asks the API server for each EnvoyFilter with our label that has Wasm filters in it, once for each of its versions: what is listed and watched has no field managers. What cannot be asked is
 * not ours yet, and asked again.
 */
export function writtenFilters({ cluster, view, owners, changed, clock, log }: WrittenFiltersOptions, signal: AbortSignal): WrittenFilters {
  const judged = new WeakMap<Resource, boolean>();
  let isFailing = false;

  function pending(): readonly Resource[] {
    return [...view.snapshot.of(EnvoyFilter)].filter((one) => !judged.has(one) && bearsLabelOf(one, owners) && hasOrders(one));
  }

  async function judge(filter: Resource): Promise<void> {
    const live = await cluster.get(EnvoyFilter, refOf(filter), signal);
    const isOurs = live !== undefined && isWrittenByUs(live);
    judged.set(filter, isOurs);
    if (isOurs || live === undefined) return;
    const { name, namespace = "" } = filter.metadata;
    log.warn(
      {},
      `EnvoyFilter ${namespace}/${name} has the label of the management plane, and was written by somebody else: its Wasm filters are not served`,
    );
  }

  async function run(): Promise<void> {
    const asked = pending();
    for (const filter of asked) {
      try {
        await judge(filter);
        isFailing = false;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ClusterError)) throw error;
        // No object of ours is such: it holds up none of the others.
        if (error.code === "Invalid") {
          judged.set(filter, false);
          continue;
        }
        if (!isFailing) log.warn({}, `cannot see who has written EnvoyFilters, tried again: ${messageOf(error)}`);
        isFailing = true;
        void clock.sleep(AGAIN_MS, signal).then(loop.request, () => undefined);
        if (error.code === "Unavailable") break;
      }
    }
    if (asked.length === 0) return;
    forgetOrders(view.snapshot);
    changed();
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: PAUSE_MS }, signal);
  loop.request();
  return {
    isOurs: (filter) => judged.get(filter) === true,
    get isEvaluated() {
      return pending().length === 0;
    },
    observed({ put }) {
      if (put.some((one) => kindKeyOf(one) === FILTERS)) loop.request();
    },
    ended: loop.ended,
  };
}

const FILTERS = kindKeyOf(EnvoyFilter);
const PAUSE_MS = 10;
const AGAIN_MS = 5_000;
