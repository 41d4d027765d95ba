import { emptySnapshot } from "@isthmus/core";
import type { StoreHead, StoreVersion } from "@isthmus/ports";
import { describe, expect, test } from "vitest";
import { type ClusterMeta, metaJson } from "../src/replication/clusterMeta.ts";
import {
  type ClusterView,
  type FollowerShare,
  isNewShare,
  NEW_SHARE,
  NO_REPLICA,
  type OwnerShare,
  type ReadingShare,
  type ReleasingShare,
  WAKE,
  type WithdrawnShare,
} from "../src/replication/clusterShare.ts";
import { acceptsHead } from "../src/replication/followerShare.ts";
import type { WrittenNotice } from "../src/replication/partitionLoader.ts";
import { NO_VERSION } from "../src/replication/partitionWriter.ts";
import { stepShare } from "../src/replication/shareStep.ts";

const at = (fence: number, sequence = 1): StoreVersion => ({ fence, sequence });
const fenceOf = (number: number) => ({ name: "input/east", number });
const meta: ClusterMeta = { servedBy: "two", phase: "synced", connected: true, isHeard: true };
const kinds = { "/Service": { count: 1, digest: "d" } };
const headAt = (version: StoreVersion, isHeard = true): StoreHead => ({
  version,
  complete: true,
  kinds,
  meta: metaJson({ ...meta, isHeard }),
});

/** Of a registered cluster whose agent is elsewhere. */
const AWAY: ClusterView = {
  ...{ isRegistered: true, areRegistrationsKnown: true, leads: false, isServed: false, isSynced: false },
  ...{ isKnown: true, remembers: false, writerVersion: undefined },
};
/** Of a cluster whose agent is here and has reported everything. */
const HERE: ClusterView = { ...AWAY, isServed: true, isSynced: true, remembers: true };
const GONE: ClusterView = { ...AWAY, isRegistered: false, isKnown: false };

const following: FollowerShare = { ...NEW_SHARE, followed: { version: at(5), kinds }, meta };
const reading: ReadingShare = { ...following, type: "reading", written: [] };
const withdrawn: WithdrawnShare = { ...NEW_SHARE, type: "withdrawn" };
const owning: OwnerShare = { type: "owner", fence: fenceOf(7), incomplete: undefined };
const noChange = { erase: [], put: [], remove: [] };
const writtenAt = (base: StoreVersion, version: StoreVersion): WrittenNotice => ({
  ...{ type: "written", partition: { section: "input", clusterName: "east" }, base, head: headAt(version), delta: noChange },
});
const compared = { type: "compared", version: at(5), asked: undefined, isDirty: false, now: 0 } as const;

describe("a follower", () => {
  test("does not take an older state of the store, and logs each once", () => {
    expect([at(4, 9), at(5, 0), at(5, 1), at(5, 2), at(6, 0)].map((version) => acceptsHead(following, headAt(version)))).toEqual([
      ...[false, false],
      ...[true, true, true],
    ]);
    const [logged, effects] = stepShare(reading, { type: "headFound", head: headAt(at(4)) }, AWAY);
    expect(effects).toEqual([{ type: "logOlderState" }]);
    expect(stepShare(logged, { type: "headFound", head: headAt(at(4)) }, AWAY)).toEqual([logged, []]);
  });

  test("takes a write that it has taken already for done", () => {
    const notice = writtenAt(at(4), at(5));
    expect(stepShare(following, { type: "written", notice, isOwn: false }, AWAY)).toEqual([following, []]);
  });

  test("applies a write only to what it has followed, and else reads the cluster", () => {
    const notice = writtenAt(at(5), at(5, 2));
    const [followed, effects] = stepShare(following, { type: "written", notice, isOwn: false }, AWAY);
    expect([followed, effects]).toEqual([
      { ...following, followed: { version: at(5, 2), kinds } },
      [{ type: "publishDelta", meta, delta: noChange }],
    ]);
    const others: readonly FollowerShare[] = [
      { ...following, unwritten: "part" },
      { ...following, unwritten: "everything" },
      { ...following, minimumFence: 5 },
      { ...following, followed: { version: at(5, 0), kinds } },
      { ...following, followed: undefined },
    ];
    for (const share of others) expect(stepShare(share, { type: "written", notice, isOwn: false }, AWAY)).toEqual([share, [WAKE]]);
  });

  test("counts no kind as known once its agent reports here", () => {
    const reported = { ...following, followed: { version: at(5), kinds: {} } };
    const [part] = stepShare(following, { type: "touched" }, { ...HERE, isSynced: false });
    expect(part).toEqual({ ...reported, unwritten: "part" });
    expect(stepShare(part, { type: "touched" }, HERE)).toEqual([{ ...reported, unwritten: "everything" }, [WAKE]]);
    expect(stepShare(following, { type: "touched" }, AWAY)).toEqual([following, [WAKE]]);
  });

  test("that is ahead of the store takes what another replica heard in whole, under its fence or a higher one", () => {
    const ahead: FollowerShare = { ...NEW_SHARE, minimumFence: 6 };
    const heads = [headAt(at(5)), headAt(at(6)), headAt(at(7)), headAt(at(7), false)];
    expect(heads.map((head) => acceptsHead(ahead, head))).toEqual([false, true, true, false]);
    const share: ReadingShare = { ...ahead, type: "reading", written: [] };
    const said = { ...meta, isHeard: false };
    const found = stepShare(share, { type: "headFound", head: headAt(at(7), false) }, AWAY);
    expect(found).toEqual([{ ...share, meta: said }, [{ type: "publishMeta", meta: said }]]);
  });

  test("gives up what its agent reported when it may have missed another replica's fence", () => {
    const unwritten: FollowerShare = { ...following, unwritten: "everything" };
    const given = { ...following, unwritten: "nothing", minimumFence: 6 };
    const [doubted] = stepShare(unwritten, { type: "missed" }, AWAY);
    expect(doubted).toEqual({ ...following, awaitsAgent: true });
    expect(stepShare(unwritten, { type: "missed" }, HERE)).toEqual([unwritten, []]);
    expect(stepShare(unwritten, { type: "raised", fence: 5, by: "two" }, AWAY)).toEqual([unwritten, []]);
    expect(stepShare(unwritten, { type: "raised", fence: 6, by: "two" }, AWAY)).toEqual([given, []]);
  });

  test("that may have missed a fence takes what the agent reports elsewhere, also to the owner of before, and nothing else", () => {
    const doubted: FollowerShare = { ...following, awaitsAgent: true };
    const head = headAt(at(5, 2));
    expect(acceptsHead(doubted, head)).toBe(true);
    for (const other of [{ isHeard: false }, { connected: false }, { phase: "stale" as const }])
      expect(acceptsHead(doubted, { ...head, meta: metaJson({ ...meta, ...other }) })).toBe(false);
    expect(stepShare(doubted, { type: "written", notice: writtenAt(at(5), at(5, 2)), isOwn: false }, AWAY)).toEqual([doubted, [WAKE]]);
    expect(isNewShare({ ...NEW_SHARE, awaitsAgent: true })).toBe(false);
  });

  test("does not wait for ever for what is written under a fence: the store may have lost it", () => {
    const waiting: FollowerShare = { ...following, minimumFence: 6 };
    const [since] = stepShare(waiting, compared, AWAY);
    expect(since).toEqual({ ...waiting, belowMinimumSince: 0 });
    expect(stepShare(since, { ...compared, now: 299_999 }, AWAY)[0]).toEqual(since);
    expect(stepShare(since, { ...compared, now: 300_000 }, AWAY)[0]).toEqual({ ...following, awaitsAgent: true });
    expect(stepShare(since, { ...compared, version: undefined, now: 300_000 }, AWAY)[0]).toEqual({ ...following, awaitsAgent: true });
    expect(stepShare(since, { ...compared, version: at(6), now: 300_000 }, AWAY)[0]).toEqual(waiting);
  });

  test("raises the fence when another replica continues to write below what it has followed, and only then", () => {
    const older = { isServed: true, since: undefined, isLasting: false };
    const [found] = stepShare(reading, { type: "headFound", head: headAt(at(4)) }, AWAY);
    expect(found).toMatchObject({ older });
    const seen = { ...following, older };
    const below = { ...compared, version: at(4) };
    const [since] = stepShare(seen, below, AWAY);
    expect(since).toMatchObject({ older: { since: 0, isLasting: false } });
    const [lasting, effects] = stepShare(since, { ...below, now: 20_000 }, AWAY);
    expect([lasting, effects]).toMatchObject([{ older: { isLasting: true } }, [WAKE]]);
    const surpass = { type: "raiseFence", purpose: "surpass", above: 5 };
    expect(stepShare(lasting, { type: "work" }, AWAY)[1]).toEqual([{ type: "start", task: surpass }]);
    const granted = { type: "fenceGranted", fence: fenceOf(8), purpose: "surpass" } as const;
    expect(stepShare(lasting, granted, AWAY)).toEqual([{ ...lasting, older: undefined }, []]);
    expect(stepShare(since, { type: "raised", fence: 6, by: "two" }, AWAY)[0]).toEqual(following);
    expect(stepShare(since, { ...compared, now: 20_000 }, AWAY)[0]).toEqual(following);
    const [unserved] = stepShare({ ...seen, older: { ...older, isServed: false } }, below, AWAY);
    expect(stepShare(unserved, { ...below, now: 20_000 }, AWAY)[0]).toMatchObject({ older: { isLasting: false } });
  });

  test("forgets what it followed when the partition was cleared since", () => {
    expect(stepShare(following, { type: "cleared", fence: 5 }, AWAY)).toEqual([following, []]);
    expect(stepShare(following, { type: "cleared", fence: 6 }, AWAY)).toEqual([{ ...following, followed: undefined }, []]);
  });

  test("looks at the store when the overview has another version", () => {
    expect(stepShare(following, compared, AWAY)[1]).toEqual([]);
    expect(stepShare(following, { ...compared, version: at(5, 2) }, AWAY)[1]).toEqual([WAKE]);
  });

  test("publishes again what the owner reports when replicas came or went", () => {
    expect(stepShare(following, { type: "replicasChanged" }, AWAY)[1]).toEqual([{ type: "publishMeta", meta }]);
    expect(stepShare(following, { type: "replicasChanged" }, HERE)[1]).toEqual([]);
  });

  test("raises the fence above the one that it has followed, and once it is granted writes if its agent is still here", () => {
    const task = { type: "raiseFence", purpose: "write", above: 5 };
    expect(stepShare(following, { type: "work" }, HERE)).toEqual([following, [{ type: "start", task }]]);
    const granted = { type: "fenceGranted", fence: fenceOf(7), purpose: "write" } as const;
    const flush = { type: "start", task: { type: "flush", fence: fenceOf(7) } };
    expect(stepShare(following, granted, HERE)).toEqual([owning, [{ type: "openWriter", fence: fenceOf(7) }, flush]]);
    const incomplete = { ...owning, incomplete: { version: at(5) } };
    expect(stepShare(following, granted, { ...HERE, isSynced: false })[0]).toEqual(incomplete);
    expect(stepShare({ ...following, unwritten: "everything" }, granted, { ...AWAY, remembers: true })[0]).toEqual(owning);
    expect(stepShare(following, granted, AWAY)).toEqual([following, [{ type: "start", task: { type: "queueRead" } }]]);
    expect(stepShare(following, granted, GONE)).toEqual([following, []]);
  });
});

describe("a reading", () => {
  const loaded = { type: "loaded", head: headAt(at(6)), content: emptySnapshot(), since: [], isOvertaken: false } as const;

  test("that memory has overtaken is repeated, and of what does not count here is dropped", () => {
    expect(stepShare(reading, { ...loaded, isOvertaken: true }, AWAY)).toEqual([following, [WAKE]]);
    for (const view of [HERE, GONE]) expect(stepShare(reading, loaded, view)).toEqual([following, []]);
  });

  test("is repeated when what was written meanwhile does not follow", () => {
    const notice = writtenAt(at(6, 2), at(6, 3));
    const [share, effects] = stepShare({ ...reading, written: [notice] }, loaded, AWAY);
    expect(share).toMatchObject({ type: "follower", followed: { version: at(6) } });
    expect(effects).toEqual([{ type: "publishContent", meta, content: emptySnapshot() }, WAKE]);
  });

  test("keeps at most a thousand writes", () => {
    const notice = writtenAt(at(6), at(6, 2));
    const full: ReadingShare = { ...reading, written: Array.from({ length: 999 }, () => notice) };
    const [next] = stepShare(full, { type: "written", notice, isOwn: false }, AWAY);
    const [last] = stepShare(next, { type: "written", notice, isOwn: false }, AWAY);
    expect([next, last].map((share) => share.type === "reading" && share.written.length)).toEqual([1_000, 1_000]);
  });

  test("that ends without anything is over", () => {
    expect(stepShare(reading, { type: "readEnded" }, AWAY)).toEqual([following, []]);
  });
});

describe("an owner", () => {
  const releasing = (to: ReleasingShare["to"]): ReleasingShare => ({ type: "releasing", fence: fenceOf(7), to });

  test("yields to a fence that is not lower, and to any while its agent is not here", () => {
    const raised = (fence: number) => ({ type: "raised", fence, by: "two" }) as const;
    for (const fence of [7, 8])
      expect(stepShare(owning, raised(fence), HERE)).toEqual([releasing({ replica: "two", fence }), [{ type: "release" }]]);
    expect(stepShare(owning, raised(6), HERE)).toEqual([owning, []]);
    expect(stepShare(owning, raised(6), AWAY)).toEqual([releasing({ replica: "two", fence: 6 }), [{ type: "release" }]]);
  });

  test("yields when its write was superseded, or the partition cleared under a higher fence", () => {
    const release = [releasing({ replica: "unknown" }), [{ type: "release" }]];
    expect(stepShare(owning, { type: "flushed", fence: fenceOf(7), outcome: "superseded" }, HERE)).toEqual(release);
    expect(stepShare(owning, { type: "flushed", fence: fenceOf(6), outcome: "superseded" }, HERE)).toEqual([owning, []]);
    expect(stepShare(owning, { type: "cleared", fence: 8 }, HERE)).toEqual(release);
    expect(stepShare(owning, { type: "cleared", fence: 7 }, HERE)).toEqual([owning, []]);
  });

  test("that yielded is ahead of the store where it has not written everything", () => {
    const followed = { version: at(7, 3), kinds };
    const yielded = (to: ReleasingShare["to"], state: typeof followed | undefined) =>
      stepShare(releasing(to), { type: "released", followed: state }, AWAY)[0];
    expect(yielded({ replica: "two", fence: 9 }, followed)).toEqual({ ...NEW_SHARE, followed });
    expect(yielded({ replica: "two", fence: 9 }, undefined)).toEqual({ ...NEW_SHARE, minimumFence: 9 });
    expect(yielded({ replica: "unknown" }, undefined)).toEqual({ ...NEW_SHARE, minimumFence: 8 });
    const dirty = { version: NO_VERSION, kinds };
    expect(yielded({ replica: "two", fence: 9 }, dirty)).toEqual({ ...NEW_SHARE, followed: dirty, minimumFence: 9 });
  });

  test("that yielded ends its agent's connection, if there is one", () => {
    const released = { type: "released", followed: undefined } as const;
    expect(stepShare(releasing({ replica: "two" }), released, HERE)[1]).toEqual([{ type: "disconnect", to: "two" }, WAKE]);
    expect(stepShare(releasing({ replica: "two" }), released, AWAY)[1]).toEqual([WAKE]);
  });

  test("raises the fence once more, and keeps its agent, when no replica is to write under the one that was raised", () => {
    const [yielding] = stepShare(owning, { type: "raised", fence: 9, by: NO_REPLICA }, HERE);
    expect(yielding).toEqual(releasing({ replica: NO_REPLICA, fence: 9 }));
    const followed = { version: at(7, 3), kinds };
    const [next, effects] = stepShare(yielding, { type: "released", followed }, HERE);
    expect([next, effects]).toEqual([{ ...NEW_SHARE, followed }, [WAKE]]);
    const task = { type: "raiseFence", purpose: "write", above: 7 };
    expect(stepShare(next, { type: "work" }, HERE)[1]).toEqual([{ type: "start", task }]);
  });

  test("doubts a store that has another version than it wrote, unless it has written since", () => {
    const view = { ...HERE, writerVersion: at(7, 3) };
    const event = (version: StoreVersion | undefined, asked: StoreVersion) => ({ ...compared, version, asked: { version: asked } });
    expect(stepShare(owning, event(at(7, 3), at(7, 3)), view)).toEqual([owning, []]);
    expect(stepShare(owning, event(undefined, at(7, 3)), view)).toEqual([owning, [{ type: "doubt" }, WAKE]]);
    expect(stepShare(owning, event(at(7, 2), at(7, 2)), view)).toEqual([owning, []]);
    expect(stepShare(owning, { ...event(at(7, 3), at(7, 3)), isDirty: true }, view)).toEqual([owning, [WAKE]]);
    expect(stepShare(owning, event(at(8), at(7, 3)), view)[1]).toEqual([{ type: "release" }]);
    expect(stepShare(owning, event(at(6), at(7, 3)), { ...view, isServed: false })[1]).toEqual([{ type: "release" }]);
  });

  test("writes everything again when a reader found something else at the version that it wrote", () => {
    const view = { ...HERE, writerVersion: at(7, 3) };
    expect(stepShare(owning, { type: "distrusted", version: at(7, 3) }, view)).toEqual([owning, [{ type: "distrust" }, WAKE]]);
    expect(stepShare(owning, { type: "distrusted", version: at(7, 2) }, view)).toEqual([owning, []]);
  });

  test("does not write what is unknown, nor over what it has not followed before its agent has reported everything", () => {
    const served = { ...HERE, isSynced: false };
    const share: OwnerShare = { ...owning, incomplete: { version: at(5) } };
    expect(stepShare(share, { type: "agesFound" }, { ...served, isKnown: false })[1]).toEqual([]);
    expect(stepShare(share, { type: "work" }, served)).toEqual([share, [{ type: "start", task: { type: "findVersion" } }]]);
    expect(stepShare(share, { type: "versionFound", version: at(6) }, served)).toEqual([share, []]);
    expect(stepShare(share, { type: "versionFound", version: undefined }, served)).toEqual([share, []]);
    const flush = { type: "start", task: { type: "flush", fence: fenceOf(7) } };
    expect(stepShare(share, { type: "versionFound", version: at(5) }, served)).toEqual([share, [flush]]);
    expect(stepShare(share, { type: "touched" }, HERE)[0]).toEqual(owning);
    expect(stepShare(share, { type: "touched" }, served)[0]).toEqual(share);
  });
});

describe("a cluster that is no longer registered", () => {
  test("is withdrawn by its owner or the leader, and forgotten by all", () => {
    expect(stepShare(owning, { type: "forgotten" }, GONE)).toEqual([withdrawn, [{ type: "closeWriter" }, WAKE]]);
    expect(stepShare(following, { type: "forgotten" }, { ...GONE, leads: true })).toEqual([withdrawn, [WAKE]]);
    const [share, effects] = stepShare(following, { type: "forgotten" }, GONE);
    expect([isNewShare(share), effects]).toEqual([true, []]);
  });

  test("is withdrawn by the leader a minute after it was found in the store", () => {
    const leading = { ...GONE, leads: true };
    const [seen] = stepShare(NEW_SHARE, { ...compared, now: 1_000 }, leading);
    expect(stepShare(seen, { ...compared, now: 60_999 }, leading)[0]).toEqual(seen);
    expect(stepShare(seen, { ...compared, now: 61_000 }, leading)[0].type).toBe("withdrawn");
    expect(stepShare(seen, { ...compared, now: 61_000 }, GONE)[0].type).toBe("follower");
    expect(isNewShare(stepShare(seen, { ...compared, version: undefined }, leading)[0])).toBe(true);
    expect(isNewShare(stepShare(seen, compared, { ...leading, areRegistrationsKnown: false })[0])).toBe(true);
  });

  test("is cleared when all registrations are known and it is not among them", () => {
    const raise = { type: "start", task: { type: "raiseFence", purpose: "clear", above: undefined } };
    expect(stepShare(withdrawn, { type: "work" }, GONE)).toEqual([withdrawn, [raise]]);
    expect(stepShare(withdrawn, { type: "work" }, { ...GONE, areRegistrationsKnown: false })).toEqual([withdrawn, []]);
    const granted = { type: "fenceGranted", fence: fenceOf(8), purpose: "clear" } as const;
    const clear = { type: "start", task: { type: "clear", fence: fenceOf(8) } };
    expect(stepShare(withdrawn, granted, GONE)).toEqual([withdrawn, [clear]]);
    expect(stepShare(withdrawn, granted, AWAY)).toEqual([withdrawn, []]);
    expect(stepShare(withdrawn, { type: "partitionCleared" }, GONE)).toEqual([NEW_SHARE, []]);
  });

  test("is followed again when it is registered again", () => {
    expect(stepShare(withdrawn, { type: "work" }, AWAY)).toEqual([NEW_SHARE, [{ type: "start", task: { type: "queueRead" } }]]);
  });
});
