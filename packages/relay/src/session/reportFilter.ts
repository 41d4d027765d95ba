import { formatRef, kindKeyOf, type ResourceRef } from "@isthmus/core";
import type { Rejection } from "./link.ts";

/** What of an agent's words the server takes in. The link knows no kind: the one who starts it says which ones agents report. */
export interface ReportFilter {
  /** Whether agents report objects of a kind (`kindKeyOf`) at all. */
  readonly isAccepted: (kindKey: string) => boolean;
  /** How much the agent of a cluster may have reported. It may change at any time. */
  readonly quota: (clusterName: string) => Quota;
  /** How many objects of a cluster the loops hold. */
  readonly heldObjects: (clusterName: string) => number;
  /** Whether the loops hold an object: what was taken once is not refused as one too many. */
  readonly isHeld: (ref: ResourceRef) => boolean;
}

/** The most that the objects of one cluster may be. */
export interface Quota {
  readonly objects: number;
  /** Of their JSON. */
  readonly bytes: number;
  /** Whether `bytes` is less than the agent's own quota, as those of all agents together are too many. Default: it is its own. */
  readonly isShared?: boolean;
}

/** Takes everything: for links without loops that make anything of it. */
export const ACCEPT_ALL: ReportFilter = {
  isAccepted: () => true,
  quota: () => ({ objects: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }),
  heldObjects: () => 0,
  isHeld: () => false,
};

/** What of a quota is exceeded. */
export type QuotaLimit = "objects" | "bytes";

/** That an agent has reported more than its quota. */
export interface QuotaExcess {
  readonly limit: QuotaLimit;
  readonly quota: number;
  /** Whether it is what all agents together leave of its own quota. */
  readonly isShared?: boolean;
  /** The kinds (`kindKeyOf`) of which something was refused. */
  readonly kinds: readonly string[];
}

/** Why objects of a report were refused; a label of the metric that counts them. */
export type RefusalReason =
  /** Of a kind that agents do not report, or another kind than the message says. */
  | "Kind"
  /** Of another cluster. */
  | "OtherCluster"
  /** Not JSON, or another object than its name says. */
  | "Invalid"
  /** One too many. */
  | "Quota";

export interface Refusal {
  readonly reason: RefusalReason;
  readonly rejection: Rejection;
}

/** A refusal whose message is the object's name and `problem`, a clause; its code is `Invalid` for that reason, else `Refused`. */
export function refusalOfObject(ref: ResourceRef, reason: RefusalReason, problem: string): Refusal {
  return { reason, rejection: { ref, code: reason === "Invalid" ? "Invalid" : "Refused", message: `${formatRef(ref)}: ${problem}` } };
}

/** What is wrong with an object by its name alone; undefined: nothing. */
export function refusalOf(
  ref: ResourceRef,
  { kind, clusterName }: { readonly kind: string; readonly clusterName: string },
  { isAccepted }: ReportFilter,
): Refusal | undefined {
  if (ref.clusterName !== clusterName) return refusalOfObject(ref, "OtherCluster", `this stream is for ${clusterName} only`);
  if (kindKeyOf(ref) !== kind) return refusalOfObject(ref, "Kind", `it is not a ${kind}`);
  if (isAccepted(kind)) return undefined;
  return refusalOfObject(
    ref,
    "Kind",
    `agents do not report ${ref.kind} objects: the management plane only reads them in the management cluster`,
  );
}

/** What is reported of an object one too many; `limit` is the one that it exceeds. */
export function overQuota(ref: ResourceRef, limit: QuotaLimit, quota: Quota): Refusal {
  if (limit === "bytes" && quota.isShared === true) {
    const problem = `all agents together report more than the server keeps, and this one is among the largest with ${quota.bytes} bytes of objects: narrow discovery.selectors, or give the server more memory`;
    return refusalOfObject(ref, "Quota", problem);
  }
  const what = limit === "objects" ? `${quota.objects} objects` : `${quota.bytes} bytes of objects`;
  return refusalOfObject(ref, "Quota", `the quota of this agent, ${what}, is exceeded: raise relay.agentQuota.${limit} in the Settings`);
}

/** Whether so little is left of what was reported that refused kinds may be sent again: with some room, or they would be refused at once. */
export function hasRoom({ objects, bytes }: Quota, quota: Quota): boolean {
  return objects <= quota.objects * ROOM && bytes <= quota.bytes * ROOM;
}

const ROOM = 0.9;
