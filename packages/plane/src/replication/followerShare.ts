import { isSameVersion, type StoreHead, type StoreVersion } from "@isthmus/ports";
import { metaOf } from "./clusterMeta.ts";
import {
  type ClusterView,
  type FollowerShare,
  isNotAfter,
  NEW_SHARE,
  type ReadingShare,
  type ShareEffect,
  type ShareEvent,
  type ShareStep,
  type UnownedShare,
  WAKE,
} from "./clusterShare.ts";
import type { WrittenNotice } from "./partitionLoader.ts";
import { hasRoomFor } from "./receivedNotices.ts";

/** What happens to a cluster that this replica does not write, outside its turns of work. */
export function stepUnowned(share: UnownedShare, event: ShareEvent, view: ClusterView): ShareStep<UnownedShare> {
  switch (event.type) {
    case "touched":
      return [view.isServed ? reported(share, view) : share, [WAKE]];
    case "forgotten":
      return forgotten(share, view);
    case "replicasChanged":
      return [share, share.meta !== undefined && isFollowing(view) ? [{ type: "publishMeta", meta: share.meta }] : []];
    case "missed":
      return [view.isServed ? share : doubted(share), []];
    case "raised": {
      if (event.fence <= fenceOf(share)) return [share, []];
      const surpassed = { ...share, older: undefined };
      return [view.isServed ? surpassed : overtaken(surpassed, event.fence), []];
    }
    case "written":
      return written(share, event.notice, view);
    case "cleared":
      return [event.fence <= fenceOf(share) ? share : { ...share, followed: undefined }, []];
    case "compared":
      return compared(share, event, view);
    case "headFound":
      return headFound(share, event.head, view);
    case "readEnded":
      return [share.type === "reading" ? ended(share) : share, []];
    case "loaded":
      return share.type === "reading" ? loaded(share, event, view) : [share, []];
    default:
      return [share, []];
  }
}

/** Whether what the store has may replace what is known. Where not, what its owner reports of the cluster may hold all the same. */
export function acceptsHead(share: UnownedShare, head: StoreHead): boolean {
  const { minimumFence, unwritten, awaitsAgent } = share;
  if (isOlder(share, head.version)) return false;
  const { isHeard, connected, phase } = metaOf(head);
  if (awaitsAgent) return isHeard && connected && phase === "synced";
  if (minimumFence === undefined && unwritten === "nothing") return true;
  return head.version.fence >= (minimumFence ?? 0) && isHeard;
}

/** Whether what the owner reports counts here: of a registered cluster, while its agent is not connected to this replica. */
function isFollowing({ isRegistered, isServed }: ClusterView): boolean {
  return isRegistered && !isServed;
}

/** The highest fence that is known to have written; 0: none. */
function fenceOf({ followed }: UnownedShare): number {
  return followed?.version.fence ?? 0;
}

/** This replica has followed the cluster beyond a version: somebody may have restored what was there before. */
function isOlder({ followed }: UnownedShare, version: StoreVersion): boolean {
  return followed !== undefined && !isSameVersion(followed.version, version) && isNotAfter(version, followed.version);
}

/** The agent is connected here and reports: no kind is in memory any more as it was followed. */
function reported(share: UnownedShare, { isSynced }: ClusterView): UnownedShare {
  const unwritten = isSynced || share.unwritten === "everything" ? "everything" : "part";
  return { ...share, unwritten, followed: share.followed === undefined ? undefined : { ...share.followed, kinds: {} } };
}

/** What an agent that is gone reported here is not to be written any more: another replica writes, under `fence`, or may. */
function overtaken(share: UnownedShare, fence: number): UnownedShare {
  return share.unwritten === "everything"
    ? { ...share, unwritten: "nothing", minimumFence: fence, belowMinimumSince: undefined, awaitsAgent: false }
    : share;
}

/**
 * Another replica may have raised the fence meanwhile, or none: what an agent that is gone reported here is not to be written any more,
 * and gives way to what it reports to whom it is connected now, also to the owner of before if it has returned to it.
 */
function doubted(share: UnownedShare): UnownedShare {
  return share.unwritten === "everything" ? { ...share, unwritten: "nothing", awaitsAgent: true } : share;
}

function forgotten({ type, unregisteredSince }: UnownedShare, { leads }: ClusterView): ShareStep<UnownedShare> {
  const rest = { ...NEW_SHARE, unregisteredSince };
  if (leads) return [{ ...rest, type: "withdrawn" }, [WAKE]];
  return [type === "reading" ? { ...rest, type, written: [] } : { ...rest, type }, []];
}

function written(share: UnownedShare, notice: WrittenNotice, view: ClusterView): ShareStep<UnownedShare> {
  const { fence } = notice.head.version;
  const known = fenceOf(share);
  const current = known > 0 && fence > known && !view.isServed ? overtaken(share, fence) : share;
  if (current.type === "reading") {
    return [hasRoomFor(notice, current.written) ? { ...current, written: [...current.written, notice] } : current, []];
  }
  return follow(current, notice, view) ?? [current, notice.head.complete ? [WAKE] : []];
}

/** Takes one write as it was made; undefined where the one before it is not what memory has. */
function follow<Share extends UnownedShare>(share: Share, notice: WrittenNotice, view: ClusterView): ShareStep<Share> | undefined {
  const { base, delta, head } = notice;
  const { followed } = share;
  if (followed !== undefined && isNotAfter(head.version, followed.version)) return [share, []];
  if (followed === undefined || delta === undefined || !isSameVersion(base, followed.version) || !isFollowing(view)) return undefined;
  if (share.unwritten !== "nothing" || share.minimumFence !== undefined || share.awaitsAgent) return undefined;
  const meta = metaOf(head);
  return [{ ...share, meta, followed: { version: head.version, kinds: head.kinds } }, [{ type: "publishDelta", meta, delta }]];
}

function compared(share: UnownedShare, event: Extract<ShareEvent, { type: "compared" }>, view: ClusterView): ShareStep<UnownedShare> {
  const { version, now } = event;
  const { isRegistered, areRegistrationsKnown, leads } = view;
  const current = withOlder(withMinimum(share, event), event);
  const isNews = version !== undefined && !isSameVersion(share.followed?.version, version);
  if (!areRegistrationsKnown) return [{ ...current, unregisteredSince: undefined }, isNews ? [WAKE] : []];
  const unregisteredSince = version === undefined || isRegistered ? undefined : (share.unregisteredSince ?? now);
  // After a while only: another replica may hear of a registration before this one does.
  const isLeft = leads && unregisteredSince !== undefined && now - unregisteredSince >= UNREGISTERED_MS;
  if (isLeft || share.type === "withdrawn") {
    const known = current.type === "reading" ? ended(current) : current;
    return [{ ...known, type: "withdrawn", unregisteredSince }, [WAKE]];
  }
  return [{ ...current, unregisteredSince }, isNews ? [WAKE] : []];
}

/** What is awaited under a fence is not awaited for ever: who raised it may be gone, or the store that granted it was emptied since. */
function withMinimum<Share extends UnownedShare>(
  share: Share,
  { version, now }: { readonly version: StoreVersion | undefined; readonly now: number },
): Share {
  const { minimumFence } = share;
  if (minimumFence === undefined || (version?.fence ?? 0) >= minimumFence) return { ...share, belowMinimumSince: undefined };
  const belowMinimumSince = share.belowMinimumSince ?? now;
  if (now - belowMinimumSince < AWAITED_MS) return { ...share, belowMinimumSince };
  return { ...share, minimumFence: undefined, belowMinimumSince: undefined, awaitsAgent: true };
}

/**
 * A replica that writes under a fence that is too low does not know it: the fence it had was granted by a store that had lost the higher one, and whose clock was
 * behind. An older state that somebody restored does not stay, as its writer compares it with its own.
 */
function withOlder<Share extends UnownedShare>(
  share: Share,
  { version, now }: { readonly version: StoreVersion | undefined; readonly now: number },
): Share {
  const { older } = share;
  if (older === undefined) return share;
  if (version === undefined || !isOlder(share, version)) return { ...share, older: undefined };
  const since = older.since ?? now;
  return { ...share, older: { ...older, since, isLasting: older.isServed && now - since >= LASTING_MS } };
}

function headFound(share: UnownedShare, head: StoreHead, view: ClusterView): ShareStep<UnownedShare> {
  const { followed, minimumFence, unwritten, awaitsAgent, loggedVersion } = share;
  const meta = metaOf(head);
  if (isOlder(share, head.version)) {
    const effects: readonly ShareEffect[] = isSameVersion(loggedVersion, followed?.version) ? [] : [{ type: "logOlderState" }];
    const older = { since: undefined, isLasting: false, ...share.older, isServed: meta.connected };
    return [{ ...share, older, loggedVersion: followed?.version }, effects];
  }
  const isKept = (minimumFence !== undefined && head.version.fence >= minimumFence) || unwritten !== "nothing" || awaitsAgent;
  // What its owner reports of the cluster holds all the same.
  if (!isKept || meta.isHeard || !isFollowing(view)) return [share, []];
  return [{ ...share, meta }, [{ type: "publishMeta", meta }]];
}

function loaded(share: ReadingShare, event: Extract<ShareEvent, { type: "loaded" }>, view: ClusterView): ShareStep<FollowerShare> {
  const { head, content, since, isOvertaken } = event;
  const before = ended(share);
  // Its agent was connected here for a moment, or it was registered again.
  if (isOvertaken) return [before, [WAKE]];
  if (!isFollowing(view)) return [before, []];
  const meta = metaOf(head);
  const followed = { version: head.version, kinds: head.kinds };
  const awaitsNothing = { unwritten: "nothing", minimumFence: undefined, belowMinimumSince: undefined, awaitsAgent: false } as const;
  let taken: FollowerShare = { ...before, ...awaitsNothing, older: undefined, meta, followed };
  const effects: ShareEffect[] = [
    { type: "publishContent", meta, content },
    ...since.map((delta) => ({ type: "publishDelta", meta, delta }) as const),
  ];
  for (const notice of share.written) {
    const step = follow(taken, notice, view);
    if (step === undefined) return [taken, [...effects, WAKE]];
    taken = step[0];
    effects.push(...step[1]);
  }
  return [taken, effects];
}

/** No longer being read. */
function ended({ written: _, ...known }: ReadingShare): FollowerShare {
  return { ...known, type: "follower" };
}

const UNREGISTERED_MS = 60_000;
// Several times as long as it takes a writer to compare the store with what it wrote.
const LASTING_MS = 20_000;
// Far longer than an agent takes to report everything to the replica that raised the fence.
const AWAITED_MS = 300_000;
