import { CiliumEndpoint, CiliumNetworkPolicy, CiliumPolicyReport } from "@isthmus/api";
import {
  abortedWith,
  type Clock,
  type Delta,
  emptyDelta,
  equalJson,
  type Index,
  isEmpty,
  keyOfResource,
  kindKeyOf,
  type Log,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
} from "@isthmus/core";
import type { AgentLink, Cluster } from "@isthmus/ports";
import type { Scope } from "@isthmus/translators";
import { bearsLabelOf } from "../../apply/ownership.ts";
import { type Informer, startInformer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import type { CiliumEndpointsMode } from "../settings.ts";
import { type Upstream, upstream } from "../upstream.ts";
import { startCiliumNumbers } from "./ciliumNumbers.ts";
import { policyReports } from "./ciliumReports.ts";

/** Reports what Cilium makes of the policies that were written for the plane in this cluster, and how much of it there is: a few numbers. */
export interface CiliumLoop {
  /** What has changed in the cluster. */
  observed(delta: Delta): void;
  settingsChanged(): void;
  readonly ended: Promise<void>;
}

export interface CiliumLoopOptions {
  readonly cluster: Cluster;
  readonly view: Informer;
  readonly link: Pick<AgentLink, "observe" | "synced">;
  /** Whose policies are ours. */
  readonly owners: readonly Owner[];
  /** Undefined before a server has said so: nothing is reported until then. */
  readonly mode: () => CiliumEndpointsMode | undefined;
  /** The namespaces whose endpoints are sent, where the Settings ask for them. */
  readonly scope: () => Scope;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Endpoints are watched while there are policies of ours or the Settings ask for all of them, unless the Settings forbid it. The first
 * report waits for them for 30 s at most; until they are known, nothing is said of their numbers.
 */
export function startCiliumLoop(options: CiliumLoopOptions, signal: AbortSignal): CiliumLoop {
  const { view, link, owners, mode, clock } = options;
  /** Namespaces in which something may not be as it was reported. */
  const dirty = new Set<string>();
  /** By namespace, and there by `keyOfResource`. */
  const reported = new Map<string, ReadonlyMap<string, CiliumPolicyReport>>();
  let endpoints: EndpointWatch | undefined;
  /** Sends endpoints, while the Settings ask for them. */
  let sender: Upstream | undefined;
  let wereKnown = false;
  let isAnnounced = false;
  let waitsSince: number | undefined;

  function ownPoliciesIn(namespace: string): readonly CiliumNetworkPolicy[] {
    return view.snapshot
      .of(CiliumNetworkPolicy)
      .where(byNamespace, namespace)
      .filter((policy) => bearsLabelOf(policy, owners));
  }

  /** Namespaces with policies of ours, now or as they were reported. */
  function everyNamespace(): readonly string[] {
    return [...reported.keys(), ...[...view.snapshot.of(CiliumNetworkPolicy)].map(({ metadata }) => metadata.namespace ?? "")];
  }

  /** Whether anybody wants to know of endpoints, in a cluster that may have some. */
  function areWanted(): boolean {
    const isServed = view.kinds.get(POLICIES) !== "unserved";
    if (mode() !== "SUMMARY") return isServed && mode() === "FULL";
    return isServed && [...reported.keys(), ...dirty].some((namespace) => ownPoliciesIn(namespace).length > 0);
  }

  function followEndpoints(): void {
    const isWanted = areWanted();
    if (sender !== undefined && (!isWanted || mode() !== "FULL")) {
      link.observe({ put: [], remove: knownEndpoints().map(refOf) });
      sender = undefined;
    }
    if (!isWanted) endpoints?.stop();
    if (isWanted !== (endpoints !== undefined))
      endpoints = isWanted ? watchEndpoints(options, { changed: onEndpoints }, signal) : undefined;
    if (sender !== undefined || endpoints === undefined || mode() !== "FULL") return;
    const { random, log, scope } = options;
    const begun = upstream({
      link,
      kinds: [CiliumEndpoint],
      userKinds: [],
      keepsLastGood: () => true,
      owners: [],
      scopedKinds: [CiliumEndpoint],
      scope,
      random,
      log,
    });
    begun.view(endpoints.view);
    begun.observed({ put: knownEndpoints(), remove: [] });
    sender = begun;
  }

  function knownEndpoints(): readonly CiliumEndpoint[] {
    return [...(endpoints?.view.snapshot.of(CiliumEndpoint) ?? [])];
  }

  function onEndpoints(delta: Delta): void {
    const { put, remove } = delta;
    sender?.observed(delta);
    for (const { metadata } of put) dirty.add(metadata.namespace ?? "");
    for (const { namespace } of remove) dirty.add(namespace);
    loop.request();
  }

  function run(): void {
    if (mode() === undefined || !view.isComplete) return;
    followEndpoints();
    const known = endpoints?.view.kinds.get(kindKeyOf(CiliumEndpoint));
    const areKnown = known === "known" || known === "stale";
    if (!isAnnounced && known === "unknown" && !hasWaited()) return;
    if (areKnown !== wereKnown) for (const namespace of everyNamespace()) dirty.add(namespace);
    wereKnown = areKnown;
    const [put, remove]: [Resource[], ResourceRef[]] = [[], []];
    for (const namespace of dirty) {
      const before = reported.get(namespace);
      const found = areKnown ? endpoints?.view.snapshot.of(CiliumEndpoint).where(byNamespace, namespace) : undefined;
      const reports = policyReports(ownPoliciesIn(namespace), found);
      const now = new Map(reports.map((report) => [keyOfResource(report), report]));
      for (const [key, report] of now) if (!equalJson(before?.get(key), report)) put.push(report);
      for (const [key, report] of before ?? []) if (!now.has(key)) remove.push(refOf(report));
      if (now.size === 0) reported.delete(namespace);
      else reported.set(namespace, now);
    }
    dirty.clear();
    if (!isEmpty({ put, remove })) link.observe({ put, remove });
    // Until then the server keeps what an earlier process of this agent reported.
    if (!isAnnounced) link.synced([CiliumPolicyReport, ...(sender === undefined ? [CiliumEndpoint] : [])].map(kindKeyOf), []);
    isAnnounced = true;
  }

  /** Whether the first report has waited long enough for endpoints that may not be readable at all. */
  function hasWaited(): boolean {
    if (waitsSince === undefined) void clock.sleep(MOST_WAIT_MS, signal).then(loop.request, () => undefined);
    waitsSince ??= clock.now();
    return clock.now() - waitsSince >= MOST_WAIT_MS;
  }

  const numbers = startCiliumNumbers(options, signal);
  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  for (const namespace of everyNamespace()) dirty.add(namespace);
  loop.request();

  return {
    observed({ put, remove }) {
      // Other namespaces may be in scope.
      sender?.observed(emptyDelta);
      numbers.changed();
      const policies = [...put.map(refOf), ...remove].filter((ref) => kindKeyOf(ref) === POLICIES);
      for (const { namespace } of policies) dirty.add(namespace);
      // Cilium may just have been installed.
      const mayBegin = mode() === "FULL" && endpoints === undefined;
      if (policies.length > 0 || mayBegin || !isAnnounced) loop.request();
    },
    settingsChanged() {
      loop.request();
      numbers.changed();
    },
    ended: Promise.all([loop.ended, numbers.ended]).then(() => undefined),
  };
}

interface EndpointWatch {
  readonly view: Informer;
  stop(): void;
}

function watchEndpoints(
  { cluster, view: { definitions }, clock, random, log }: CiliumLoopOptions,
  { changed }: { readonly changed: (delta: Delta) => void },
  signal: AbortSignal,
): EndpointWatch {
  const stopped = abortedWith(signal);
  const onChange = (delta: Delta) => {
    if (!stopped.signal.aborted) changed(delta);
  };
  const view = startInformer({ cluster, kinds: [CiliumEndpoint], definitions, clock, random, log, changed: onChange }, stopped.signal);
  return { view, stop: () => stopped.abort(new Error("nobody asks for endpoints any more")) };
}

const byNamespace: Index<Resource> = ({ metadata }) => [metadata.namespace ?? ""];

const POLICIES = kindKeyOf(CiliumNetworkPolicy);
const PAUSE_MS = 200;
// Pods come and go in bursts: what they come to is said once for each.
const REST_MS = 5_000;
const MOST_WAIT_MS = 30_000;
