import type { AccessPolicy, ApprovalStatus, TrafficPolicy } from "@isthmus/api";
import { keyOf, type Report, refOf } from "@isthmus/core";
import { observed } from "../attachment/meshes.ts";
import { userKeyOf } from "../userResources.ts";
import { approvalOf, conditionsOf, messagesOf, publishedState } from "./approval.ts";
import { firstListed, listedFirst } from "./listed.ts";
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
  const { keys, accepted, listed } = approvals(ordersOf(key, standings), reports);
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  const status = (selected: readonly string[]) => ({
    ...observed(policy),
    state: publishedState(reports),
    ...(keys.length === 0 ? {} : { destinations: listed }),
    ...(selected.length === 0 ? {} : { workloads: firstListed(selected) }),
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

/** How something stands on its targets of one kind. */
export interface Approvals {
  /** All targets, sorted. */
  readonly keys: readonly string[];
  /** On how many it is not INVALID. */
  readonly accepted: number;
  /** By key in key order, no more than `LISTED`: those about which there is something to say come first. */
  readonly listed: Readonly<Record<string, ApprovalStatus>>;
}

/** `orders`: its place on each target, where places count. */
export function approvals(orders: ReadonlyMap<string, number | undefined> | undefined, reports: readonly Report[]): Approvals {
  const reported = new Map<string, Report[]>();
  for (const report of reports) {
    if (report.target === undefined) continue;
    const key = keyOf(report.target);
    const others = reported.get(key);
    if (others === undefined) reported.set(key, [report]);
    else others.push(report);
  }
  const keys = [...new Set([...(orders?.keys() ?? []), ...reported.keys()])].sort();
  const isInvalid = (key: string) => publishedState(reported.get(key) ?? []) === "INVALID";
  const invalid = [...reported.keys()].filter(isInvalid).length;
  const listed = listedFirst(keys, [isInvalid, (key) => reported.has(key)]);
  return {
    keys,
    accepted: keys.length - invalid,
    listed: Object.fromEntries(listed.map((key) => [key, approvalOf(reported.get(key) ?? [], orders?.get(key))] as const)),
  };
}
