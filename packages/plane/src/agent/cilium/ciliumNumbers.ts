import { CILIUM_REPORT_NAME, CiliumIdentity, CiliumNetworkPolicy, CiliumNode, CiliumReport } from "@isthmus/api";
import { abortedWith, equalJson, type Kind, kindKeyOf, refOf } from "@isthmus/core";
import { type Informer, startInformer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import type { CiliumLoopOptions } from "./ciliumLoop.ts";

/** Reports how many identities and nodes Cilium has in this cluster, at most once in 30 s. */
export interface CiliumNumbers {
  /** Something is served, or set, that was not. */
  changed(): void;
  readonly ended: Promise<void>;
}

/** They are watched where Cilium is installed, unless the Settings forbid it. What is not listed yet has no number. */
export function startCiliumNumbers(options: Omit<CiliumLoopOptions, "scope" | "owners">, signal: AbortSignal): CiliumNumbers {
  const { cluster, view, link, mode, clock, random, log } = options;
  let counted: { readonly view: Informer; readonly stop: AbortController } | undefined;
  let reported: CiliumReport | undefined;
  let isAnnounced = false;

  function isInstalled(): boolean {
    const state = view.kinds.get(kindKeyOf(CiliumNetworkPolicy));
    return state === "known" || state === "stale";
  }

  function isWanted(): boolean {
    return mode() !== "NONE" && isInstalled();
  }

  function follow(): void {
    if (isWanted() === (counted !== undefined)) return;
    counted?.stop.abort(new Error("nobody asks for these numbers any more"));
    counted = undefined;
    if (!isWanted()) return;
    const stop = abortedWith(signal);
    const kinds = [CiliumIdentity, CiliumNode];
    const { definitions } = view;
    const counting = startInformer({ cluster, kinds, definitions, clock, random, log, changed: () => loop.request() }, stop.signal);
    counted = { view: counting, stop };
  }

  function numberOf(kind: Kind): number | undefined {
    const state = counted?.view.kinds.get(kindKeyOf(kind));
    return state === "known" || state === "stale" ? counted?.view.snapshot.of(kind).size : undefined;
  }

  function run(): void {
    if (mode() === undefined || !view.isComplete) return;
    follow();
    const [identities, nodes] = [numberOf(CiliumIdentity), numberOf(CiliumNode)];
    // Both are listed within a moment of each other, or cannot be read.
    if (!isAnnounced && counted !== undefined && identities === undefined && nodes === undefined) return;
    const { apiVersion, kind } = CiliumReport;
    const metadata = { name: CILIUM_REPORT_NAME, clusterName: cluster.name };
    const status = { ...(identities === undefined ? {} : { identities }), ...(nodes === undefined ? {} : { nodes }) };
    // Nothing is said in words as well: numbers of earlier are no longer known.
    const now = isInstalled() ? { apiVersion, kind, metadata, status } : undefined;
    if (!equalJson(now, reported)) {
      link.observe({ put: now === undefined ? [] : [now], remove: now === undefined && reported !== undefined ? [refOf(reported)] : [] });
    }
    reported = now;
    if (!isAnnounced) link.synced([kindKeyOf(CiliumReport)], []);
    isAnnounced = true;
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  loop.request();
  return {
    changed() {
      if (!isAnnounced || isWanted() !== (counted !== undefined)) loop.request();
    },
    ended: loop.ended,
  };
}

// Longer than two lists take.
const PAUSE_MS = 1_000;
const REST_MS = 30_000;
