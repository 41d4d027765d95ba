import { EnvoyFilter, shortenedMessage, type WasmFilterOrder, WasmFilterReport, type WasmFilterState, wasmOrderDigest } from "@isthmus/api";
import { type Clock, type Delta, equalJson, isEmpty, kindKeyOf, type Owner, type Resource, refOf } from "@isthmus/core";
import type { AgentLink } from "@isthmus/ports";
import type { Informer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import { userFiltersBeside } from "./userFilters.ts";
import { type WasmOrder, wasmOrdersIn, wasmOrdersOfPod } from "./wasmOrders.ts";
import type { WrittenFilters } from "./writtenFilters.ts";

/** What serves Wasm filters to proxies on this replica. */
export interface WasmFilters {
  /** Other filters are ordered, or for other pods. */
  changed(): void;
  /** The version that proxies get of a filter as it is meant now; or why there is none, where that is known. */
  stateOf(order: WasmOrder, filter: WasmFilterOrder): { readonly version?: string; readonly problem?: string };
  /** What became of each filter at each proxy that is connected, here or to another replica that answers. */
  outcomes(): readonly WasmOutcome[];
  readonly ended: Promise<void>;
}

/** One filter at one proxy. */
interface WasmOutcome {
  readonly pod: { readonly name: string; readonly namespace: string };
  readonly filter: string;
  readonly outcome:
    | { readonly state: "PENDING" }
    | { readonly state: "ACCEPTED"; readonly version: string }
    | { readonly state: "REFUSED"; readonly version: string; readonly error: string };
}

export interface WasmReportsOptions {
  readonly clusterName: string;
  readonly view: Informer;
  readonly link: Pick<AgentLink, "observe" | "synced">;
  readonly owners: readonly Owner[];
  /** Which EnvoyFilters are ours. */
  readonly ours: () => Pick<WrittenFilters, "isOurs" | "isEvaluated">;
  /** Undefined where none are served. */
  readonly filters: () => WasmFilters | undefined;
  readonly clock: Clock;
}

/** Reports what became of the Wasm filters that were written for the plane in this cluster: a few numbers of each EnvoyFilter. */
export interface WasmReports {
  observed(delta: Delta): void;
  /** A module, or the answer of a proxy, is another one. */
  changed(): void;
  readonly ended: Promise<void>;
}

/**
 * The first report waits for the proxies of filters that were there before, for 20 s at most: an agent that has just started knows of no proxy,
 * and must not say that none runs them.
 */
export function startWasmReports(options: WasmReportsOptions, signal: AbortSignal): WasmReports {
  const { view, link, owners, ours, filters, clock } = options;
  let reported: ReadonlyMap<string, WasmFilterReport> = new Map();
  let isAnnounced = false;
  let waitsSince: number | undefined;

  function run(): void {
    // What is not judged yet may be ours: an earlier process has reported it.
    if (!view.isComplete || (!isAnnounced && filters() !== undefined && !ours().isEvaluated)) return;
    const server = filters();
    const orders = server === undefined ? [] : wasmOrdersIn(view.snapshot, ours().isOurs);
    const states = server === undefined ? [] : statesOf(orders, server);
    if (!isAnnounced && states.some(({ proxies }) => proxies === 0) && !hasWaited()) return;
    const now = new Map(
      orders.map((order, i): [string, WasmFilterReport] => [
        order.key,
        reportOf(order, { ...states[i], ...userFiltersBeside(view.snapshot, owners, order) }),
      ]),
    );
    const put = [...now].filter(([key, report]) => !equalJson(reported.get(key), report)).map(([, report]) => report);
    const remove = [...reported].filter(([key]) => !now.has(key)).map(([, report]) => refOf(report));
    reported = now;
    if (!isEmpty({ put, remove })) link.observe({ put, remove });
    // Until then the server keeps what an earlier process of this agent reported.
    if (!isAnnounced) link.synced([kindKeyOf(WasmFilterReport)], []);
    isAnnounced = true;
  }

  function statesOf(orders: readonly WasmOrder[], server: WasmFilters): readonly WasmFilterState[] {
    const proxies = new Map<string, Map<string, WasmOutcome[]>>();
    for (const one of server.outcomes()) {
      for (const { key, filters: ordered } of wasmOrdersOfPod(view.snapshot, ours().isOurs, {
        ...one.pod,
        clusterName: options.clusterName,
      })) {
        if (!ordered.some(({ name }) => name === one.filter)) continue;
        const pods = proxies.get(key) ?? new Map<string, WasmOutcome[]>();
        proxies.set(key, pods);
        const pod = `${one.pod.namespace}/${one.pod.name}`;
        pods.set(pod, [...(pods.get(pod) ?? []), one]);
      }
    }
    return orders.map((order) => stateOf(order, [...(proxies.get(order.key)?.values() ?? [])], server));
  }

  function reportOf({ name, namespace }: WasmOrder, status: WasmFilterState): WasmFilterReport {
    const { apiVersion, kind } = WasmFilterReport;
    return { apiVersion, kind, metadata: { name, namespace, clusterName: options.clusterName }, status };
  }

  function hasWaited(): boolean {
    if (waitsSince === undefined) void clock.sleep(MOST_WAIT_MS, signal).then(loop.request, () => undefined);
    waitsSince ??= clock.now();
    return clock.now() - waitsSince >= MOST_WAIT_MS;
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  loop.request();
  return {
    observed({ put, remove }) {
      const isAbout = (one: Pick<Resource, "apiVersion" | "kind">) => kindKeyOf(one) === FILTERS;
      if (put.some(isAbout) || remove.some(isAbout) || !isAnnounced) loop.request();
    },
    changed: loop.request,
    ended: loop.ended,
  };
}

/** What a proxy has accepted counts if it is what is meant now. */
function stateOf(order: WasmOrder, proxies: readonly (readonly WasmOutcome[])[], server: WasmFilters): WasmFilterState {
  const states = new Map(order.filters.map((filter) => [filter.name, server.stateOf(order, filter)]));
  const isCurrent = ({ filter, outcome }: WasmOutcome) => "version" in outcome && outcome.version === states.get(filter)?.version;
  const refused = proxies.filter((outcomes) => outcomes.some((one) => one.outcome.state === "REFUSED" && isCurrent(one)));
  // A proxy that has not asked for a filter does not run it.
  const accepted = proxies.filter((outcomes) =>
    order.filters.every(({ name }) => {
      const ofFilter = outcomes.filter(({ filter }) => filter === name);
      return ofFilter.length > 0 && ofFilter.every((one) => one.outcome.state === "ACCEPTED" && isCurrent(one));
    }),
  );
  const refusal = refused.flat().flatMap(({ outcome }) => (outcome.state === "REFUSED" ? [outcome.error] : []))[0];
  const problem = [...states.values()].flatMap((one) => one.problem ?? [])[0];
  return {
    orderSha256: wasmOrderDigest(order.resource),
    proxies: proxies.length,
    accepted: accepted.length,
    refused: refused.length,
    ...(refusal === undefined ? {} : { refusal: shortenedMessage(refusal) }),
    ...(problem === undefined ? {} : { unavailable: shortenedMessage(problem) }),
  };
}

const FILTERS = kindKeyOf(EnvoyFilter);
const PAUSE_MS = 200;
// Proxies answer in bursts: what they come to is said once for each.
const REST_MS = 2_000;
const MOST_WAIT_MS = 20_000;
