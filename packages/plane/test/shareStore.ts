import type { Snapshot } from "@isthmus/core";
import { isSameVersion, type StoreDelta, type StoreHead, type StoreNotice } from "@isthmus/ports";
import { type ClusterMeta, metaJson } from "../src/replication/clusterMeta.ts";
import { NO_REPLICA, type ShareEvent } from "../src/replication/clusterShare.ts";
import { acceptsHead } from "../src/replication/followerShare.ts";
import { CLUSTER, type Content, deltaFrom, KIND, kindsOf, nameOf, partition, snapshotWith, textOf } from "./shareContent.ts";
import {
  type AskedTask,
  isDirty,
  memoryOf,
  metaFor,
  type ShareRecord,
  type ShareReplica,
  type ShareWriter,
  type shareDriver,
} from "./shareDriver.ts";

/** A store that does what replicas ask for when the test says so, each request in one or two steps. */
export function shareStore(
  { history }: ShareRecord,
  { dispatch, violated }: ReturnType<typeof shareDriver>,
  tell: (notice: StoreNotice) => void,
) {
  /** The last few complete states, the newest last. */
  const saved: { readonly head: StoreHead; readonly content: Content }[] = [];
  const store: { fence: number; now: number; behind: number; partition: { head: StoreHead; content: Content } | undefined } = {
    fence: 0,
    now: 10_000,
    behind: 0,
    partition: undefined,
  };

  let hasFailedOver = false;

  function serve(one: ShareReplica): void {
    const { asked } = one;
    if (asked === undefined || asked.answer !== undefined) return;
    const { task } = asked;
    switch (task.type) {
      case "raiseFence": {
        // Two fences are never granted in one moment.
        store.now += 10;
        store.fence = Math.max(store.fence + 1, (task.above ?? 0) + 1, store.now - store.behind);
        const fence = { name: `input/${CLUSTER}`, number: store.fence };
        tell({ type: "raised", fence, by: task.purpose === "surpass" ? NO_REPLICA : one.name });
        asked.answer = { type: "fenceGranted", fence, purpose: task.purpose };
        break;
      }
      case "findVersion":
        asked.answer = { type: "versionFound", version: store.partition?.head.version };
        break;
      case "flush":
        if (one.writer === undefined) asked.answer = { type: "flushed", fence: task.fence, outcome: "written" };
        else if (store.fence > one.writer.fence) asked.answer = { type: "flushed", fence: task.fence, outcome: "superseded" };
        else if (flushed(one, one.writer)) asked.answer = { type: "flushed", fence: task.fence, outcome: "written" };
        break;
      case "clear":
        if (store.fence <= task.fence.number) {
          store.partition = undefined;
          tell({ type: "cleared", partition, fence: task.fence });
        }
        asked.answer = { type: "partitionCleared" };
        break;
      case "load":
        read(one, asked);
        break;
    }
  }

  /** One write; whether it was the last one. */
  function flushed(one: ShareReplica, writer: ShareWriter): boolean {
    const [memory, meta] = [memoryOf(one), metaFor(one)];
    const base = store.partition?.head;
    if (writer.version === undefined || !isSameVersion(writer.version, base?.version)) {
      writer.version = undefined;
      const known = store.partition?.content ?? new Map();
      const isFilled = base !== undefined && !base.complete && base.version.fence === writer.fence;
      if (writer.isTrusted && base?.complete === true && textOf(known) === textOf(memory)) {
        Object.assign(writer, { version: base.version, content: known, meta: "" });
        return false;
      }
      writer.isTrusted = true;
      if (isFilled) return put(one, writer, { content: memory, delta: undefined, meta, complete: true });
      put(one, writer, { content: new Map(), delta: undefined, meta, complete: false });
      writer.version = undefined;
      return false;
    }
    if (!isDirty(one, writer)) return true;
    return put(one, writer, { content: memory, delta: deltaFrom(writer.content, memory), meta, complete: true });
  }

  function put(
    one: ShareReplica,
    writer: ShareWriter,
    { content, delta, meta, complete }: { content: Content; delta: StoreDelta | undefined; meta: ClusterMeta; complete: boolean },
  ): boolean {
    if (one.share.type !== "owner" || one.share.fence.number !== writer.fence) violated(one, `writes as ${one.share.type}`);
    if (one.taken.has(writer.fence)) violated(one, "writes after it was deposed");
    const base = store.partition?.head.version;
    const version = { fence: writer.fence, sequence: ++writer.sequence };
    const head = { version, complete, kinds: kindsOf(content), meta: metaJson(meta) };
    store.fence = Math.max(store.fence, writer.fence);
    store.partition = { head, content };
    if (complete && saved.push({ head, content }) > 4) saved.shift();
    if (complete) history.set(nameOf(version), textOf(content));
    Object.assign(writer, { version, content, meta: JSON.stringify(meta) });
    tell({ type: "written", partition, base, head, ...(delta === undefined ? {} : { delta }) });
    return complete;
  }

  /** First the objects, then what was written meanwhile. */
  function read(one: ShareReplica, asked: AskedTask): void {
    const head = store.partition?.head;
    const isAccepted = "followed" in one.share && head !== undefined && acceptsHead(one.share, head);
    if (head !== undefined) dispatch(one, { type: "headFound", head });
    if (head?.complete !== true || one.share.type !== "reading" || !isAccepted) {
      asked.answer = { type: "readEnded" };
      return;
    }
    if (asked.first === undefined) {
      asked.first = { head, content: store.partition?.content ?? new Map() };
      return;
    }
    const { first } = asked;
    const deltas: StoreDelta[] = [];
    let at = first.head.version;
    for (const notice of one.share.written) {
      if (isSameVersion(at, head.version) || !isSameVersion(notice.base, at) || notice.delta === undefined) continue;
      deltas.push(notice.delta);
      at = notice.head.version;
    }
    const known = asked.task.type === "load" ? asked.task.known[KIND]?.digest : undefined;
    // What was written in between has not been heard of yet.
    if (!isSameVersion(at, head.version)) asked.answer = "failed";
    else if (known === first.head.kinds[KIND]?.digest) asked.answer = loadedAs(head, asked.memory, deltas);
    else asked.answer = loadedAs(head, snapshotWith(asked.memory, store.partition?.content ?? new Map()), []);
  }

  function loadedAs(head: StoreHead, content: Snapshot, since: readonly StoreDelta[]): ShareEvent {
    return { type: "loaded", head, content, since, isOvertaken: false };
  }

  return {
    serve,
    current: store,
    /** Somebody found other objects than the store's head says. */
    distrust(): void {
      if (store.partition !== undefined) tell({ type: "distrusted", partition, version: store.partition.head.version });
    },
    /** Somebody restores what the store had before. */
    restore(): void {
      const [earlier] = saved;
      if (earlier === undefined) return;
      Object.assign(store, { partition: earlier, fence: earlier.head.version.fence, behind: 0 });
      store.now += 1_000;
    },
    /** The store loses everything. Its fences go on above the ones before, as time has passed. */
    wipe(): void {
      Object.assign(store, { partition: undefined, fence: 0, behind: 0 });
      store.now += 1_000;
    },
    /** Another one takes over, which has nothing yet and whose clock is behind: its fences are below the ones before. */
    failOver(): void {
      // Once, and by no multiple of what time passes by: no fence is granted twice.
      if (hasFailedOver) return;
      hasFailedOver = true;
      Object.assign(store, { partition: undefined, fence: 0, behind: 5_000.5 });
    },
  };
}
