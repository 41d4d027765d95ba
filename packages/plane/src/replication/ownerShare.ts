import { isSameVersion } from "@isthmus/ports";
import { metaOf } from "./clusterMeta.ts";
import {
  type ClusterView,
  NEW_SHARE,
  NO_REPLICA,
  type OwnerShare,
  type ReleasingShare,
  type ShareEvent,
  type ShareStep,
  WAKE,
} from "./clusterShare.ts";
import { NO_VERSION } from "./partitionWriter.ts";

/** What happens to a cluster that this replica writes, outside its turns of work. */
export function stepOwner(share: OwnerShare, event: ShareEvent, view: ClusterView): ShareStep {
  switch (event.type) {
    case "touched":
      return [view.isSynced ? { ...share, incomplete: undefined } : share, [WAKE]];
    case "forgotten":
      return [{ ...NEW_SHARE, type: "withdrawn" }, [{ type: "closeWriter" }, WAKE]];
    case "raised":
      return isDeposed(share, event.fence, view) ? release(share, { replica: event.by, fence: event.fence }) : [share, []];
    case "written": {
      const { head } = event.notice;
      const { fence } = head.version;
      return !event.isOwn && isDeposed(share, fence, view) ? release(share, { replica: metaOf(head).servedBy, fence }) : [share, []];
    }
    case "cleared":
      return event.fence > share.fence.number ? release(share, UNKNOWN) : [share, []];
    case "distrusted":
      return isSameVersion(view.writerVersion, event.version) ? [share, [{ type: "distrust" }, WAKE]] : [share, []];
    case "flushed":
      return event.outcome === "superseded" && event.fence.number === share.fence.number ? release(share, UNKNOWN) : [share, []];
    case "compared":
      return compared(share, event, view);
    default:
      return [share, []];
  }
}

/** The writer is closed: this replica follows from where memory and the store were the same. */
export function stepReleasing(share: ReleasingShare, event: ShareEvent, view: ClusterView): ShareStep {
  if (event.type !== "released") return [share, []];
  const { fence, to } = share;
  const { followed } = event;
  // What was not written is in memory alone. A fence that is not known is above the one of here.
  const isAhead = followed === undefined || isSameVersion(followed.version, NO_VERSION);
  const minimumFence = isAhead && view.isKnown ? (to.fence ?? fence.number + 1) : undefined;
  // While nothing is known there is nothing to protect, and a store that was emptied may never have that fence.
  const unwritten = isAhead && !view.isKnown ? "part" : "nothing";
  return [
    { ...NEW_SHARE, followed, minimumFence, unwritten },
    // Its agent is still here: this replica raises the fence again.
    [...(view.isServed && to.replica !== NO_REPLICA ? [{ type: "disconnect", to: to.replica } as const] : []), WAKE],
  ];
}

function compared(
  share: OwnerShare,
  event: Extract<ShareEvent, { type: "compared" }>,
  { writerVersion, isServed }: ClusterView,
): ShareStep {
  const { version, asked, isDirty } = event;
  if ((version?.fence ?? 0) > share.fence.number) return release(share, UNKNOWN);
  // What was written since the store was asked is not in its answer.
  const isCurrent = asked !== undefined && isSameVersion(asked.version, writerVersion);
  if (!isCurrent || isSameVersion(version, writerVersion)) return [share, isDirty ? [WAKE] : []];
  if (version !== undefined && !isServed) return release(share, { ...UNKNOWN, fence: version.fence });
  return [share, [{ type: "doubt" }, WAKE]];
}

/**
 * Whether another replica's fence takes the cluster from this one. Fences grow by the store's clock; a store that was emptied within a
 * millisecond, or whose clock was set back, may give one that is not higher. Then the replica that the agent is connected to keeps it.
 */
function isDeposed({ fence }: OwnerShare, other: number, { isServed }: ClusterView): boolean {
  return other >= fence.number || !isServed;
}

function release({ fence }: OwnerShare, to: ReleasingShare["to"]): ShareStep {
  return [{ type: "releasing", fence, to }, [{ type: "release" }]];
}

/** Nobody says which replica it is. */
const UNKNOWN = { replica: "unknown" };
