import type { AccessPolicy, ApprovalStatus, TrafficPolicy } from "@isthmus/api";
import { keyOf, type Report, refOf } from "@isthmus/core";
import { observed } from "../attachment/meshes.ts";
import { userKeyOf } from "../userResources.ts";
import { approvalOf, conditionsOf, messagesOf, publishedState } from "./approval.ts";
import { ordersOf, progressOf, reportsOn, type Standings } from "./standings.ts";

/** The status of a policy, once it is known which workloads it is about. */
export interface PolicyStatus {
  /** The keys of the Destinations that it is about. */
  readonly destinations: readonly string[];
  /** The keys of the targets that findings name. */
  readonly reported: readonly string[];
  /** `workloads`: the keys of those that it is about. */
  status(workloads: readonly string[]): object;
}

/** The status of a TrafficPolicy or AccessPolicy. */
export function policyStatus(policy: TrafficPolicy | AccessPolicy, standings: Standings): PolicyStatus {
  const key = userKeyOf(refOf(policy));
  const reports = reportsOn(key, standings);
  const own = reports.filter(({ target }) => target === undefined);
  const destinations = approvals(ordersOf(key, standings), reports);
  const keys = Object.keys(destinations);
  const accepted = Object.values(destinations).filter(({ state }) => state !== "INVALID").length;
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  const status = (selected: readonly string[]) => ({
    ...observed(policy),
    state: publishedState(reports),
    ...(keys.length === 0 ? {} : { destinations }),
    ...(selected.length === 0 ? {} : { workloads: selected }),
    ...messagesOf(own),
    targetCount: keys.length,
    acceptedCount: accepted,
    workloadCount: selected.length,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: conditionsOf({ reports, targets: keys.length, accepted, progress: progressOf(key, standings) }),
  });
  const reported = new Set(reports.flatMap(({ target }) => (target === undefined ? [] : [keyOf(target)])));
  return { destinations: keys, reported: [...reported], status };
}

/** How a policy stands on each of its targets of one kind, by key in key order. */
export function approvals(
  orders: ReadonlyMap<string, number | undefined> | undefined,
  reports: readonly Report[],
): Readonly<Record<string, ApprovalStatus>> {
  const byTarget = new Map<string, Report[]>([...(orders?.keys() ?? [])].map((key) => [key, []]));
  for (const report of reports) {
    if (report.target === undefined) continue;
    const key = keyOf(report.target);
    byTarget.set(key, [...(byTarget.get(key) ?? []), report]);
  }
  return Object.fromEntries(
    [...byTarget.keys()].sort().map((key) => [key, approvalOf(byTarget.get(key) ?? [], orders?.get(key))] as const),
  );
}
