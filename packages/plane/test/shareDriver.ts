import type { Snapshot } from "@isthmus/core";
import { isSameVersion, type StoreHead, type StoreNotice, type StoreVersion } from "@isthmus/ports";
import type { ClusterMeta } from "../src/replication/clusterMeta.ts";
import {
  type ClusterShare,
  type ClusterView,
  isNotAfter,
  isReportComplete,
  type ShareEffect,
  type ShareEvent,
  type ShareTask,
} from "../src/replication/clusterShare.ts";
import type { inputTexts } from "../src/replication/inputTexts.ts";
import { NO_VERSION } from "../src/replication/partitionWriter.ts";
import { stepShare } from "../src/replication/shareStep.ts";
import type { SnapshotStore } from "../src/snapshots/snapshotStore.ts";
import { CLUSTER, type Content, contentOf, kindsOf, nameOf, textOf } from "./shareContent.ts";

export interface ShareWriter {
  readonly fence: number;
  version: StoreVersion | undefined;
  content: Content;
  meta: string;
  sequence: number;
  isTrusted: boolean;
}

/** A task that the store was asked for: first the store does it, then the answer arrives. */
export interface AskedTask {
  readonly task: ShareTask;
  readonly isForAges: boolean;
  /** What was known when the store was asked. */
  readonly memory: Snapshot;
  answer?: ShareEvent | "failed";
  /** What a reading has found so far. */
  first?: { readonly head: StoreHead; readonly content: Content };
}

export interface ShareReplica {
  /** Whether it clears what is no longer registered. */
  readonly leads: boolean;
  readonly name: string;
  readonly snapshots: SnapshotStore;
  readonly texts: ReturnType<typeof inputTexts>;
  readonly inbox: StoreNotice[];
  share: ClusterShare;
  writer: ShareWriter | undefined;
  isRegistered: boolean;
  isWoken: boolean;
  asked: AskedTask | undefined;
  overview:
    | { readonly version: StoreVersion | undefined; readonly asked: { readonly version: StoreVersion | undefined } | undefined }
    | undefined;
  /** The fences that were taken from this replica. */
  readonly taken: Set<number>;
}

/** What all replicas of a fleet have in common. */
export interface ShareRecord {
  readonly violations: string[];
  /** Every complete state that the store ever had, by version. */
  readonly history: Map<string, string>;
}

function viewOf({ leads, snapshots, isRegistered, writer }: ShareReplica): ClusterView {
  const { isServed = false, phase = "unknown" } = snapshots.clusters.get(CLUSTER) ?? {};
  const known = { isServed, isSynced: isServed && phase === "synced", isKnown: phase !== "unknown" };
  return {
    ...known,
    isRegistered,
    areRegistrationsKnown: true,
    leads,
    remembers: snapshots.remembers(CLUSTER),
    writerVersion: writer?.version,
  };
}

export const memoryOf = (one: ShareReplica) => contentOf(one.snapshots.snapshotIn(CLUSTER));

export function metaFor(one: ShareReplica): ClusterMeta {
  const { phase, connected } = one.snapshots.clusters.get(CLUSTER) ?? {};
  const isHeard = isReportComplete(one.share);
  return { servedBy: one.name, phase: phase === "synced" ? "synced" : "stale", connected: connected === true, isHeard };
}

export const isDirty = (one: ShareReplica, writer: ShareWriter) =>
  writer.version === undefined || textOf(writer.content) !== textOf(memoryOf(one)) || writer.meta !== JSON.stringify(metaFor(one));

/** Does for replicas what `inputSharing` does, and notes what must never happen. `leave` ends an agent's connection. */
export function shareDriver({ violations, history }: ShareRecord, leave: (one: ShareReplica) => void) {
  function violated(one: ShareReplica, what: string): void {
    violations.push(`${one.name}: ${what}`);
  }

  function dispatch(one: ShareReplica, event: ShareEvent): ShareTask | undefined {
    const before = one.share;
    const [next, effects] = stepShare(before, event, viewOf(one));
    one.share = next;
    checkStep(one, before, event);
    let task: ShareTask | undefined;
    for (const effect of effects) {
      if (effect.type === "start") task = effect.task;
      else carryOut(one, effect, before);
    }
    checkState(one);
    return task;
  }

  function checkStep(one: ShareReplica, before: ClusterShare, event: ShareEvent): void {
    const { share } = one;
    const [from, to] = ["followed" in before ? before.followed : undefined, "followed" in share ? share.followed : undefined];
    if (from !== undefined && to !== undefined && !isSameVersion(from.version, to.version) && isNotAfter(to.version, from.version))
      violated(one, `went back from ${nameOf(from.version)} to ${nameOf(to.version)}`);
    if (before.type === "owner" && share.type === "owner" && before.fence !== share.fence)
      violated(one, "another fence without a new claim");
    const view = viewOf(one);
    if (before.type === "owner" && event.type === "raised" && (event.fence > before.fence.number || !view.isServed)) {
      one.taken.add(before.fence.number);
      if (share.type === "owner") violated(one, "goes on as the owner after another replica raised the fence");
    }
    if (event.type === "forgotten" && (before.type === "owner" || view.leads) && share.type !== "withdrawn")
      violated(one, "does not withdraw what is no longer registered");
    if (event.type === "forgotten" && "followed" in share && (share.followed ?? share.meta ?? share.minimumFence) !== undefined)
      violated(one, "keeps what it knew of a cluster that is no longer registered");
  }

  /** What must hold after each step. */
  function checkState(one: ShareReplica): void {
    const { share, writer } = one;
    if ((share.type === "owner") !== (writer !== undefined))
      violated(one, `has ${writer === undefined ? "no" : "a"} writer as ${share.type}`);
    if (share.type === "owner" || share.type === "releasing" || share.followed === undefined) return;
    const { isServed, remembers } = viewOf(one);
    const { version } = share.followed;
    // What the agent itself reported here since is newer.
    if (
      isServed ||
      remembers ||
      share.unwritten !== "nothing" ||
      share.minimumFence !== undefined ||
      share.awaitsAgent ||
      isSameVersion(version, NO_VERSION)
    )
      return;
    const written = history.get(nameOf(version));
    if (written === undefined) violated(one, `follows ${nameOf(version)}, which was never complete`);
    else if (written !== textOf(memoryOf(one))) violated(one, `has ${textOf(memoryOf(one))} for ${nameOf(version)}, which is ${written}`);
  }

  function carryOut(one: ShareReplica, effect: Exclude<ShareEffect, { readonly type: "start" }>, before: ClusterShare): void {
    switch (effect.type) {
      case "wake":
        one.isWoken = true;
        break;
      case "openWriter":
        if (one.taken.has(effect.fence.number)) violated(one, "writes again under a fence that was taken from it");
        one.writer = { fence: effect.fence.number, version: undefined, content: new Map(), meta: "", sequence: 0, isTrusted: true };
        break;
      case "closeWriter":
        one.writer = undefined;
        break;
      case "release": {
        const followed = followedBy(one);
        one.writer = undefined;
        dispatch(one, { type: "released", followed });
        break;
      }
      case "doubt":
        if (one.writer !== undefined) one.writer.version = undefined;
        break;
      case "distrust":
        if (one.writer !== undefined) Object.assign(one.writer, { version: undefined, isTrusted: false });
        break;
      case "disconnect":
        leave(one);
        break;
      case "logOlderState":
        break;
      case "publishMeta":
        publish(one, effect.meta, one.snapshots.snapshotIn(CLUSTER));
        break;
      case "publishContent":
        if ("minimumFence" in before && (before.minimumFence !== undefined || before.awaitsAgent) && !effect.meta.isHeard)
          violated(one, "takes what its writer has not heard from the agent for newer than what the agent reported here");
        publish(one, effect.meta, effect.content);
        break;
      case "publishDelta":
        publish(one, effect.meta, one.texts.snapshotAfter(CLUSTER, effect.delta));
        break;
    }
  }

  function publish(one: ShareReplica, { phase, connected }: ClusterMeta, content: Snapshot): void {
    if (!one.snapshots.followed(CLUSTER, { phase, connected }, content)) violated(one, "publishes what does not count here");
  }

  function followedBy(one: ShareReplica) {
    const { writer } = one;
    if (writer?.version === undefined || !history.has(nameOf(writer.version))) return undefined;
    if (textOf(writer.content) === textOf(memoryOf(one))) return { version: writer.version, kinds: kindsOf(writer.content) };
    return { version: NO_VERSION, kinds: {} };
  }

  return { dispatch, violated };
}
