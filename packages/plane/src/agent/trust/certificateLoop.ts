import { InvalidPem } from "@isthmus/certificates";
import { type Clock, type Log, type Resource, refOf, resourceKeyOf, uptimeOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { coalesced } from "../../runtime/coalesce.ts";
import { problemOfCluster } from "../installProblems.ts";
import type { InternalResources } from "../internalResources.ts";
import { AuthorityProblem, isTransient } from "./authoritySecrets.ts";
import { problemLog } from "./certificateObjects.ts";
import { contradictionOf, controlPlanesOfOrder, isOneDemand, type Order, ordersBySecret } from "./certificateOrders.ts";
import { certificateReport, type MeshReport, requestReport } from "./certificateReports.ts";
import { certificateStep, type PodsOf } from "./certificateStep.ts";
import { CLOCK_SKEW_MS } from "./controlPlaneReads.ts";
import { externalAuthorities } from "./externalAuthorities.ts";
import type { ReadLeafValidity } from "./leafRenewals.ts";
import { meshAuthorities } from "./meshAuthorities.ts";
import { type ControlPlanes, type MeshPods, withoutLeft } from "./meshProxies.ts";
import { meshRestarts } from "./meshRestarts.ts";
import { multiRootMeshes } from "./multiRoot.ts";
import { signingRequests } from "./signingRequests.ts";
import type { VaultAuthority } from "./vaultAuthority.ts";

/** Makes, requests and installs the CAs of the meshes in this cluster, as the server orders. Keys stay in Secrets of this cluster. */
export interface CertificateLoop {
  /** Something else is ordered. */
  changed(): void;
  readonly ended: Promise<void>;
}

export interface CertificateLoopOptions {
  /** Refuses what the mode of the cluster forbids. */
  readonly cluster: Cluster;
  /** Where keys of requested CAs are kept. */
  readonly namespace: string;
  /** Where orders come from, and reports go to. */
  readonly internal: () => Pick<InternalResources, "ordered" | "report"> | undefined;
  /** Signs where the management server does not; undefined: no server outside may be called. */
  readonly vault: VaultAuthority | undefined;
  /** Asks proxies how old their certificates are; undefined: nobody does, and each change of roots restarts them. */
  readonly leafValidity: ReadLeafValidity | undefined;
  /** Restarts workloads by rollouts. Default: by evictions. */
  readonly restartsByRollout?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Runs at the start, after each `changed`, and every 2 to 60 s, until `signal` is aborted. A failure is tried again, and reported in the
 * status of its IssuedCertificate unless it is transient; only a programming error rejects `ended`.
 */
export function startCertificateLoop(options: CertificateLoopOptions, signal: AbortSignal): CertificateLoop {
  const { cluster, namespace, internal, vault, leafValidity, clock, log } = options;
  const tell = problemLog(log);
  /** The last report on each order. */
  const reported = new Map<string, readonly Resource[]>();
  const firstFound = new Map<string, { readonly what: string; readonly since: number }>();
  const restarts = meshRestarts({ cluster, byRollout: options.restartsByRollout === true, clock, log }, signal);
  const ways = options.restartsByRollout === true ? { restartsByRollout: true as const } : {};
  const multiRoot = multiRootMeshes({ cluster, leafValidity, lookedFor, clock }, signal);
  const externals = externalAuthorities({ vault, clock, log });
  const step = certificateStep(
    {
      namespace,
      authorities: meshAuthorities({ cluster, multiRoot, lookedFor, clock }, signal),
      requests: signingRequests({ cluster, externals, clock, log }, signal),
      externals,
      multiRoot,
      installed: () => loop.request(),
      clock,
      log,
    },
    signal,
  );
  let isSettled = true;
  let isRestarting = false;

  async function run(): Promise<void> {
    const resources = internal();
    const ordered = resources?.ordered;
    if (resources === undefined || ordered === undefined) return;
    const reports: Resource[] = [];
    let [isWaiting, restarting] = [false, false];
    let pods: Promise<MeshPods> | undefined;
    for (const orders of ordersBySecret(ordered.values())) {
      const [order] = orders;
      const leave = order.spec?.trust?.leave ?? [];
      const podsOf = (place: ControlPlanes) => (pods ??= multiRoot.pods(place).then((found) => withoutLeft(found, leave)));
      const report = isOneDemand(orders)
        ? await restarted(order, await reportOn(order, ordered, podsOf), podsOf)
        : { state: "FAILED" as const, error: contradictionOf(orders) };
      if (signal.aborted) return;
      if (report?.state !== "FINISHED") isWaiting = true;
      if (report?.restarting !== undefined) restarting = true;
      for (const one of orders) {
        const key = resourceKeyOf(refOf(one));
        if (report !== undefined) {
          tell(one, report.error);
          const request = report.request === undefined || one !== order ? [] : [requestReport(one, report.request)];
          reported.set(key, [certificateReport(one, { ...report, ...ways }), ...request]);
        }
        reports.push(...(reported.get(key) ?? []));
      }
      // Another control plane has other labels.
      pods = undefined;
    }
    [isSettled, isRestarting] = [!isWaiting, restarting];
    // What was ordered meanwhile is looked at in the next round.
    if (internal()?.ordered === ordered) resources.report(reports);
  }

  async function reportOn(order: Order, ordered: ReadonlyMap<string, Resource>, podsOf: PodsOf): Promise<MeshReport | undefined> {
    try {
      return await step(order, ordered, podsOf);
    } catch (error) {
      // What was reported before stays: the order that it repeats is the one that it is about.
      if (signal.aborted || isTransient(error)) return undefined;
      if (error instanceof AuthorityProblem || error instanceof InvalidPem) return { state: "FAILED", error: error.message };
      if (!(error instanceof ClusterError)) throw error;
      return { state: "FAILED", error: problemOfCluster(order, error) };
    }
  }

  /** For how long the same has been found at a place, in milliseconds: only the time that passes counts, whatever clocks show. */
  function lookedFor(place: string, what: string): number {
    const known = firstFound.get(place);
    const since = known?.what === what ? known.since : uptimeOf(clock);
    firstFound.set(place, { what, since });
    return uptimeOf(clock) - since;
  }

  /** Restarts what has to, where users want it: the control plane first. */
  async function restarted(order: Order, report: MeshReport | undefined, podsOf: PodsOf): Promise<MeshReport | undefined> {
    const { restart = [], unread = [], restartsCountFrom = 0 } = report ?? {};
    if (report === undefined || order.spec?.podBounceDirective === undefined || restart.length + unread.length === 0) return report;
    // Earlier, it would be in vain: times of pods are whole seconds.
    if (lookedFor(resourceKeyOf(refOf(order)), String(restartsCountFrom)) < CLOCK_SKEW_MS + 1_000) return report;
    // The users of another control plane have not asked for it.
    const own = restart.filter(({ isOfOther }) => isOfOther !== true);
    try {
      const { proxies, controlPlane } = await podsOf(controlPlanesOfOrder(order));
      const isControlPlane = unread.length > 0;
      const restarting = await restarts.next(order.metadata.name, {
        all: [...controlPlane, ...proxies],
        outdated: isControlPlane ? unread : own,
        leave: order.spec.trust?.leave ?? [],
        isControlPlane,
        since: restartsCountFrom,
      });
      return restarting === undefined ? report : { ...report, restarting };
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error;
      return report;
    }
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  async function tick(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(isSettled ? SETTLED_MS : isRestarting ? RESTARTING_MS : WAITING_MS, signal).catch(() => undefined);
      loop.request();
    }
  }
  loop.request();
  return { changed: loop.request, ended: Promise.all([loop.ended, tick()]).then(() => undefined) };
}

const PAUSE_MS = 20;
const REST_MS = 500;
const WAITING_MS = 5_000;
// Between two pods: their list is read each time.
const RESTARTING_MS = 2_000;
const SETTLED_MS = 60_000;
