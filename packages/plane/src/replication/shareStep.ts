import { isSameVersion } from "@isthmus/ports";
import {
  type ClusterShare,
  type ClusterView,
  type FencePurpose,
  type OwnerShare,
  type ShareEvent,
  type ShareStep,
  start,
  type UnownedShare,
} from "./clusterShare.ts";
import { stepUnowned } from "./followerShare.ts";
import { stepOwner, stepReleasing } from "./ownerShare.ts";

/**
 * What becomes of a cluster's share, and what is to be done. A turn of work is `work`, its task, the task's answer, and so on until an
 * answer starts no task.
 */
export function stepShare(share: ClusterShare, event: ShareEvent, view: ClusterView): ShareStep {
  switch (event.type) {
    case "work":
      return work(share, view);
    case "claim":
      return isClaimed(share, view) ? [share, [raiseFence(share, "age")]] : [share, []];
    case "agesFound":
      return share.type === "owner" && view.isSynced ? proceed({ ...share, incomplete: undefined }, view) : proceed(share, view);
    case "read":
      if (share.type !== "follower") return [share, []];
      return [{ ...share, type: "reading", written: [] }, [start({ type: "load", known: share.followed?.kinds ?? {} })]];
    case "fenceGranted":
      return fenceGranted(share, event, view);
    case "versionFound":
      return share.type === "owner" && isWhatMemoryHad(share, event.version)
        ? [share, [start({ type: "flush", fence: share.fence })]]
        : [share, []];
    case "partitionCleared":
      return [share.type === "withdrawn" ? { ...share, type: "follower" } : share, []];
    default:
      return stepByRole(share, event, view);
  }
}

function stepByRole(share: ClusterShare, event: ShareEvent, view: ClusterView): ShareStep {
  switch (share.type) {
    case "owner":
      return stepOwner(share, event, view);
    case "releasing":
      return stepReleasing(share, event, view);
    default:
      return stepUnowned(share, event, view);
  }
}

function work(share: ClusterShare, view: ClusterView): ShareStep {
  const { isRegistered, areRegistrationsKnown, isServed, isKnown } = view;
  if (share.type === "withdrawn") {
    if (!areRegistrationsKnown) return [share, []];
    if (!isRegistered) return [share, [start({ type: "raiseFence", purpose: "clear", above: undefined })]];
  }
  if (!isRegistered) return [share, []];
  const current = share.type === "withdrawn" ? ({ ...share, type: "follower" } as const) : share;
  if (isServed && !isKnown) return [current, [start({ type: "findAges" })]];
  return proceed(current, view);
}

/** Gets the right to write what is this replica's to write, writes, or reads what is not. */
function proceed(share: ClusterShare, view: ClusterView): ShareStep {
  if (share.type === "owner") return write(share, view);
  if (share.type !== "follower") return [share, []];
  const { older }: UnownedShare = share;
  if (isClaimed(share, view)) return [share, [raiseFence(share, "write")]];
  return [share, [older?.isLasting === true ? raiseFence(share, "surpass") : start({ type: "queueRead" })]];
}

function write(share: OwnerShare, { isKnown, writerVersion }: ClusterView): ShareStep {
  // Unknown is not empty: what an earlier owner wrote stays until everything has been reported.
  if (!isKnown) return [share, []];
  // Where this replica did not follow the store and the agent has not reported everything, the store may have what is newer.
  if (share.incomplete !== undefined && writerVersion === undefined) return [share, [start({ type: "findVersion" })]];
  return [share, [start({ type: "flush", fence: share.fence })]];
}

function isWhatMemoryHad({ incomplete }: OwnerShare, version: ShareVersion): boolean {
  return incomplete !== undefined && version !== undefined && isSameVersion(version, incomplete.version);
}

type ShareVersion = Extract<ShareEvent, { type: "versionFound" }>["version"];

/** Whether this replica is to write the cluster and does not yet: its agent is here, or was, and nobody has written what it reported. */
function isClaimed(share: ClusterShare, { isServed, remembers }: ClusterView): share is UnownedShare & { readonly type: "follower" } {
  return share.type === "follower" && (isServed || (share.unwritten === "everything" && remembers));
}

function raiseFence(share: UnownedShare, purpose: FencePurpose) {
  return start({ type: "raiseFence", purpose, above: share.followed?.version.fence });
}

function fenceGranted(share: ClusterShare, event: Extract<ShareEvent, { type: "fenceGranted" }>, view: ClusterView): ShareStep {
  const { fence, purpose } = event;
  if (purpose === "clear") {
    return [share, share.type === "withdrawn" && !view.isRegistered ? [start({ type: "clear", fence })] : []];
  }
  if (!view.isRegistered) return [share, []];
  if (purpose === "surpass") return ["older" in share ? { ...share, older: undefined } : share, []];
  // The agent may have gone meanwhile, to a replica that has raised the fence before.
  if (!isClaimed(share, view)) return purpose === "write" ? proceed(share, view) : [share, []];
  const isComplete = view.isSynced || share.unwritten === "everything";
  const owner: OwnerShare = { type: "owner", fence, incomplete: isComplete ? undefined : { version: share.followed?.version } };
  // A new writer has no version yet.
  const [next, effects] = purpose === "write" ? write(owner, { ...view, writerVersion: undefined }) : ([owner, []] as const);
  return [next, [{ type: "openWriter", fence }, ...effects]];
}
