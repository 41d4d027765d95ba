import { AccessPolicy, type ApprovalStatus, type TrafficPolicy } from "@isthmus/api";
import { equalJson, keyOf, type Report } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import type { SelectorList } from "../policy/accessPolicyEffect.ts";
import { isRuleUnderstood } from "../policy/ineffective.ts";
import { type AcceptedForm, acceptedForm, isSoundAsWhole, MOST_REPEATED } from "./acceptedForm.ts";
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
  const standing = { reports, targets: keys.length, accepted };
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
    ...(isAccessPolicy(policy) ? acceptedAccess(policy, selectors, standing) : acceptedTraffic(policy, standing)),
  };
}

interface Standing {
  readonly reports: readonly Report[];
  /** All targets, and on how many of them it is in force as it is written. */
  readonly targets: number;
  readonly accepted: number;
}

/** What is in force as it is written, somewhere, is what a later mistake falls back on; else that stays which was before. */
function acceptedAccess(policy: AccessPolicy, selectors: SelectorList, { reports, targets }: Standing): AcceptedForm {
  const { status } = policy;
  // What was behind a VirtualDestination stays closed when that goes.
  const spec = selectors === policy.spec?.destinationSelector ? (policy.spec ?? {}) : { ...policy.spec, destinationSelector: selectors };
  const { lastAccepted } = status ?? {};
  const isOther = lastAccepted?.spec !== undefined && !equalJson(lastAccepted.spec, spec);
  const isSomewhere = targetsWith(HELD, reports).size < targets;
  const isAccepted = isSoundAsWhole(reports) ? targets === 0 || isSomewhere : !isOther && isSomewhere && isRuleUnderstood(policy);
  return acceptedForm({ ...policy, spec }, { isAccepted, most: MOST_REPEATED });
}

/**
 * The same for a TrafficPolicy. While its last accepted spec is in force anywhere that stays: else the next translation would take it off
 * where the present one cannot be in force.
 */
function acceptedTraffic(policy: TrafficPolicy, { reports, targets, accepted }: Standing): AcceptedForm {
  const isKept = reports.some(({ code }) => code === "LastAcceptedInForce");
  const isSomewhere = accepted > 0 || targetsWith(PARTLY, reports).size > 0;
  const isAccepted = !isKept && (isSomewhere || (targets === 0 && isSoundAsWhole(reports)));
  return acceptedForm(policy, { isAccepted });
}

/** The keys of the targets on which one of some findings is reported. */
function targetsWith(codes: ReadonlySet<string>, reports: readonly Report[]): ReadonlySet<string> {
  return new Set(reports.flatMap(({ target, code }) => (target !== undefined && codes.has(code) ? [keyOf(target)] : [])));
}

function isAccessPolicy(policy: TrafficPolicy | AccessPolicy): policy is AccessPolicy {
  return policy.kind === AccessPolicy.kind;
}

const HELD: ReadonlySet<string> = new Set(["LastAcceptedInForce", "NobodyLetIn"]);
const PARTLY: ReadonlySet<string> = new Set(["PartlyInForce"]);

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
