import type { AccessPolicy, ApprovalStatus, TrafficPolicy } from "@isthmus/api";
import { keyOf, type Report, refOf } from "@isthmus/core";
import { observed } from "../attachment/meshes.ts";
import { userKeyOf } from "../userResources.ts";
import { approvalOf, conditionsOf, messagesOf, type Progress, publishedState } from "./approval.ts";
import type { Subjects } from "./subjects.ts";
import type { SelectedWorkloads } from "./workloads.ts";

export interface PolicyStanding {
  readonly subjects: Subjects;
  readonly workloads: SelectedWorkloads;
  /** Undefined where nothing is delivered. */
  readonly progressOf: ((subjectKey: string) => Progress) | undefined;
}

/** The status of a TrafficPolicy or AccessPolicy. */
export function policyStatus(policy: TrafficPolicy | AccessPolicy, { subjects, workloads, progressOf }: PolicyStanding) {
  const key = userKeyOf(refOf(policy));
  const reports = subjects.reports.get(key) ?? [];
  const own = reports.filter(({ target }) => target === undefined);
  const destinations = approvals(subjects.orders.get(key), reports);
  const keys = Object.keys(destinations);
  const accepted = Object.values(destinations).filter(({ state }) => state !== "INVALID").length;
  const selected = workloads.of(policy, keys);
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  return {
    ...observed(policy),
    state: publishedState(reports),
    ...(keys.length === 0 ? {} : { destinations }),
    ...(selected.length === 0 ? {} : { workloads: selected }),
    ...messagesOf(own),
    targetCount: keys.length,
    acceptedCount: accepted,
    workloadCount: selected.length,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: conditionsOf({ reports, targets: keys.length, accepted, progress: progressOf?.(key) }),
  };
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
