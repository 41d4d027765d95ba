import { ConfigMap } from "@isthmus/api";
import { refOf } from "@isthmus/core";
import type { StoreNotice } from "@isthmus/ports";
import { metaOf } from "../src/replication/clusterMeta.ts";
import { NEW_SHARE, type ShareTask } from "../src/replication/clusterShare.ts";
import { inputTexts } from "../src/replication/inputTexts.ts";
import { snapshotStore } from "../src/snapshots/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";
import { CLUSTER, type Content, KIND, keyOf, objectOf, textOf } from "./shareContent.ts";
import { isDirty, memoryOf, type ShareRecord, type ShareReplica, shareDriver } from "./shareDriver.ts";
import { shareStore } from "./shareStore.ts";

const agent = { instance: "i", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid", features: [] };

/** Replicas that share one cluster through a store, a step at a time; whatever is on its way waits until it is let through. */
export function shareFleet(size: number) {
  const log = recordingLog();
  const record: ShareRecord = { violations: [], history: new Map() };
  const { violations } = record;
  const replicas = Array.from({ length: size }, (_, i) => replica(`replica-${i}`, i === 0));
  const driver = shareDriver(record, leave);
  const { dispatch } = driver;
  const store = shareStore(record, driver, tell);
  let truth: Content = new Map([["revision", "0"]]);
  let revision = 0;
  /** The replica that the agent reports to, and whether it has reported everything there. */
  let serving: { readonly replica: ShareReplica; isSynced: boolean } | undefined;

  function replica(name: string, leads: boolean): ShareReplica {
    const snapshots = snapshotStore({ kindOf: () => ConfigMap, isRegistered: () => one.isRegistered, log, changed: () => undefined });
    const one: ShareReplica = {
      ...{ name, leads, snapshots, texts: inputTexts({ snapshots, log }), inbox: [], share: NEW_SHARE, writer: undefined },
      ...{ isRegistered: true, isWoken: false, asked: undefined, overview: undefined, taken: new Set() },
    };
    return one;
  }

  function tell(notice: StoreNotice): void {
    for (const { inbox } of replicas) inbox.push(notice);
  }

  function begin(one: ShareReplica, task: ShareTask | undefined, isForAges = false): void {
    if (task === undefined) {
      one.asked = undefined;
      if (isForAges) begin(one, dispatch(one, { type: "agesFound" }));
    } else if (task.type === "findAges") begin(one, dispatch(one, { type: "claim" }), true);
    else if (task.type === "queueRead") begin(one, dispatch(one, { type: "read" }));
    else one.asked = { task, isForAges, memory: one.snapshots.snapshotIn(CLUSTER) };
  }

  function answer(one: ShareReplica): void {
    const { asked } = one;
    if (asked?.answer === undefined) return;
    if (asked.answer === "failed") {
      fail(one);
      return;
    }
    const isOvertaken = asked.memory !== one.snapshots.snapshotIn(CLUSTER);
    begin(one, dispatch(one, asked.answer.type === "loaded" ? { ...asked.answer, isOvertaken } : asked.answer), asked.isForAges);
  }

  /** The store does not answer: the turn is repeated. */
  function fail(one: ShareReplica): void {
    if (one.asked === undefined) return;
    if (one.asked.task.type === "load") dispatch(one, { type: "readEnded" });
    one.asked = undefined;
    one.isWoken = true;
  }

  // --- The agent.

  function connect(one: ShareReplica): void {
    if (!one.isRegistered) return;
    // A connection to the same replica ends first, one to another may be left over.
    leave(one);
    one.snapshots.connected(CLUSTER, agent);
    serving = { replica: one, isSynced: false };
    dispatch(one, { type: "touched" });
  }

  function report(): void {
    if (serving === undefined || serving.isSynced) return;
    const { replica: one } = serving;
    serving.isSynced = true;
    one.snapshots.observed(CLUSTER, { put: [...truth].map(([name, value]) => objectOf(name, value)), remove: [] });
    one.snapshots.synced(CLUSTER, new Map([[KIND, new Set([...truth.keys()].map(keyOf))]]));
    dispatch(one, { type: "touched" });
  }

  /** The agent has reported something, and not everything. */
  function reportPart(): void {
    if (serving === undefined || serving.isSynced) return;
    serving.replica.snapshots.observed(CLUSTER, { put: [...truth].map(([name, value]) => objectOf(name, value)), remove: [] });
  }

  function change(name: string): void {
    const before = truth;
    revision++;
    truth = new Map([...before, ["revision", `${revision}`]]);
    truth = before.has(name) ? new Map([...truth].filter(([one]) => one !== name)) : new Map([...truth, [name, `${revision}`]]);
    if (serving?.isSynced !== true) return;
    const { replica: one } = serving;
    const put = [...truth].filter(([key, value]) => before.get(key) !== value).map(([key, value]) => objectOf(key, value));
    const remove = [...before.keys()].filter((key) => !truth.has(key)).map((key) => refOf(objectOf(key, "")));
    one.snapshots.observed(CLUSTER, { put, remove });
    if (one.writer !== undefined) one.isWoken = true;
  }

  function leave(one: ShareReplica): void {
    if (serving?.replica === one) serving = undefined;
    if (one.snapshots.clusters.get(CLUSTER)?.isServed !== true) return;
    one.snapshots.disconnected(CLUSTER);
    dispatch(one, { type: "touched" });
  }

  function register(one: ShareReplica): void {
    if (one.isRegistered) return;
    one.isRegistered = true;
    one.snapshots.registered(CLUSTER);
    dispatch(one, { type: "touched" });
  }

  function unregister(one: ShareReplica): void {
    if (!one.isRegistered) return;
    one.isRegistered = false;
    leave(one);
    one.snapshots.forget(CLUSTER);
    dispatch(one, { type: "forgotten" });
  }

  // --- What is on its way.

  function hear(one: ShareReplica): void {
    const notice = one.inbox.shift();
    if (notice?.type === "raised" && notice.by !== one.name) dispatch(one, { type: "raised", fence: notice.fence.number, by: notice.by });
    if (notice?.type === "written") dispatch(one, { type: "written", notice, isOwn: metaOf(notice.head).servedBy === one.name });
    if (notice?.type === "cleared") dispatch(one, { type: "cleared", fence: notice.fence.number });
    if (notice?.type === "distrusted") dispatch(one, { type: "distrusted", version: notice.version });
  }

  function work(one: ShareReplica): void {
    if (one.asked !== undefined || !one.isWoken) return;
    one.isWoken = false;
    begin(one, dispatch(one, { type: "work" }));
  }

  function askOverview(one: ShareReplica): void {
    const asked = one.writer === undefined ? undefined : { version: one.writer.version };
    one.overview = { version: store.current.partition?.head.version, asked };
  }

  function compare(one: ShareReplica): void {
    if (one.overview === undefined) return;
    const isDirtyNow = one.writer !== undefined && isDirty(one, one.writer);
    const { version, asked } = one.overview;
    one.overview = undefined;
    dispatch(one, { type: "compared", version, asked, isDirty: isDirtyNow, now: store.current.now });
  }

  const isBusy = ({ inbox, isWoken, asked }: ShareReplica) => inbox.length > 0 || isWoken || asked !== undefined;

  /** Everything that is on its way arrives, and everything is done. The agent connects to `home` as often as its connection ends. */
  function settle(home?: ShareReplica): void {
    // Long enough that nobody waits any more for what will never be written.
    for (let round = 0; round < 7; round++) {
      if (home !== undefined && serving === undefined) connect(home);
      report();
      for (const one of replicas) {
        askOverview(one);
        compare(one);
      }
      for (let step = 0; step < 60 && replicas.some(isBusy); step++) {
        for (const one of replicas) {
          while (one.inbox.length > 0) hear(one);
          work(one);
          store.serve(one);
          answer(one);
        }
      }
      store.current.now += 61_000;
    }
  }

  return {
    replicas,
    violations,
    store: store.current,
    settle,
    connect,
    report,
    reportPart,
    change,
    leave,
    register,
    unregister,
    hear,
    work,
    serve: store.serve,
    answer,
    fail,
    askOverview,
    compare,
    /** A notice does not arrive. */
    lose: (one: ShareReplica) => void one.inbox.shift(),
    miss: (one: ShareReplica) => void dispatch(one, { type: "missed" }),
    replicasChanged: (one: ShareReplica) => void dispatch(one, { type: "replicasChanged" }),
    distrust: store.distrust,
    wipe: store.wipe,
    failOver: store.failOver,
    restore: store.restore,
    pass() {
      store.current.now += 10_000;
    },
    /** What each replica knows, with the phase. */
    known: () => replicas.map((one) => `${one.snapshots.clusters.get(CLUSTER)?.phase ?? "unknown"} ${textOf(memoryOf(one))}`),
    truth: () => textOf(truth),
    stored: () => (store.current.partition?.head.complete === true ? textOf(store.current.partition.content) : undefined),
  };
}
