import { AccessPolicy, type ApprovalStatus, type TrafficPolicy } from "@isthmus/api";
import { equalJson, keyOf, type Report } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import type { SelectorList } from "../policy/accessPolicyEffect.ts";
import { isRuleUnderstood } from "../policy/ineffective.ts";
import { approvalOf, conditionsOf, type DeliveryProgress, messagesOf, publishedState } from "./approval.ts";
import { firstListed, listedFirst } from "./listed.ts";

/** What the status of one policy follows from. */
export interface PolicySources {
  /** Findings about it. */
  readonly reports: readonly Report[];
  /** By the key of each Destination on which it is in force, its place among the policies there. */
  readonly orders: ReadonlyMap<string, number>;
  /** Undefined where nothing is delivered. */
  readonly progress: DeliveryProgress | undefined;
  /** The keys of those that it is about. */
  readonly workloads: readonly string[];
  /** What it selects, with the Services behind them in the place of VirtualDestinations. */
  readonly selectors: SelectorList;
}

/** The status of a TrafficPolicy or AccessPolicy. */
export function policyStatus(
  policy: TrafficPolicy | AccessPolicy,
  { reports, orders, progress, workloads, selectors }: PolicySources,
): object {
  const own = reports.filter(({ target }) => target === undefined);
  const { keys, accepted, listed } = approvals(orders, reports);
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  return {
    ...observedMetadata(policy),
    state: publishedState(reports),
    ...(keys.length === 0 ? {} : { destinations: listed }),
    ...(workloads.length === 0 ? {} : { workloads: firstListed(workloads) }),
    ...messagesOf(own),
    targetCount: keys.length,
    acceptedCount: accepted,
    workloadCount: workloads.length,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: conditionsOf({ reports, targets: keys.length, accepted, progress }),
    ...(isAccessPolicy(policy) ? acceptedForm(policy, selectors, { reports, targets: keys.length }) : {}),
  };
}

/** What is in force as it is written, somewhere, is what a later mistake falls back on; else that stays which was before. */
function acceptedForm(
  policy: AccessPolicy,
  selectors: SelectorList,
  { reports, targets }: { readonly reports: readonly Report[]; readonly targets: number },
): Pick<NonNullable<AccessPolicy["status"]>, "lastAccepted"> {
  const { status, metadata } = policy;
  // What was behind a VirtualDestination stays closed when that goes.
  const spec = selectors === policy.spec?.destinationSelector ? (policy.spec ?? {}) : { ...policy.spec, destinationSelector: selectors };
  const { lastAccepted } = status ?? {};
  const isOther = lastAccepted?.spec !== undefined && !equalJson(lastAccepted.spec, spec);
  const held = new Set(reports.flatMap(({ target, code }) => (target !== undefined && HELD.has(code) ? [keyOf(target)] : [])));
  const isSound = reports.every(({ target, state }) => target !== undefined || state !== "INVALID");
  const isSomewhere = held.size < targets;
  const isWritten = isSound ? targets === 0 || isSomewhere : !isOther && isSomewhere && isRuleUnderstood(policy);
  if (!isWritten && (isOther || lastAccepted === undefined)) return lastAccepted === undefined ? {} : { lastAccepted };
  if (JSON.stringify(spec).length > MAX_ACCEPTED) return {};
  const { generation } = metadata;
  return { lastAccepted: { ...(generation === undefined ? {} : { generation }), spec } };
}

function isAccessPolicy(policy: TrafficPolicy | AccessPolicy): policy is AccessPolicy {
  return policy.kind === AccessPolicy.kind;
}

const HELD: ReadonlySet<string> = new Set(["LastAcceptedInForce", "NobodyLetIn"]);
// 32 KiB: a status is part of its object, which has room for about 1 MiB.
const MAX_ACCEPTED = 32 * 1024;

/** How something stands on its targets of one kind. */
export interface Approvals {
  /** All targets, sorted. */
  readonly keys: readonly string[];
  /** On how many it is in force: not INVALID, and translated. */
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
  const isOut = (key: string) => isInvalid(key) || reported.get(key)?.some(({ code }) => code === "MeshNotWritten") === true;
  const out = [...reported.keys()].filter(isOut).length;
  const listed = listedFirst(keys, [isInvalid, (key) => reported.has(key)]);
  return {
    keys,
    accepted: keys.length - out,
    listed: Object.fromEntries(listed.map((key) => [key, approvalOf(reported.get(key) ?? [], orders?.get(key))] as const)),
  };
}
