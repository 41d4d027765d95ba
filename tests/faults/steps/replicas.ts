import type { StorePart } from "@isthmus/store";
import type { Fleet } from "../fleet.ts";
import type { StepKinds } from "../step.ts";
import type { ProgramVersion } from "../storeWay.ts";
import { PAUSE_MS } from "./processes.ts";

const SLOW_MS = [0, 5, 200, 2_000];
const PARTS: readonly StorePart[] = ["fences", "heads", "objects", "records"];
const VERSIONS: readonly ProgramVersion[] = ["older", "same", "newer"];

/** What happens to servers that share a store, and to the store. Nothing, where there is one server alone. */
export const replicaSteps: StepKinds = {
  startReplica: { weight: 3, act: ({ fleet }) => fleet.startServer("2") },
  stopReplica: { weight: 2, act: ({ fleet }) => fleet.stopServer("2") },
  /** Agents of a cluster go to the other server, now or when they connect next. */
  reroute: {
    weight: 3,
    n: 2,
    v: 2,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      if (fleet.store === undefined) return;
      fleet.route(cluster, n === 0 ? "1" : "2");
      if (v === 0) return;
      fleet.network.cut(cluster);
      fleet.network.mend(cluster);
    },
  },
  /** The leader is killed, or ends in order. */
  switchLeader: {
    weight: 3,
    n: 2,
    async act({ fleet }, { n }) {
      const leading = idOfLeader(fleet);
      if (leading !== undefined) await fleet.stopServer(leading, n === 1);
    },
  },
  /** A server sends its agents away, to come back a little later, perhaps to the other one. */
  drain: { weight: 2, n: 2, v: 2, act: ({ fleet }, { n, v }) => fleet.servers.get(String(n + 1))?.link.drain(v * 3_000) },
  /** What the leader asks of API servers comes so late that another one may lead by then; or no longer does. */
  pauseLeader: {
    weight: 3,
    n: 2,
    act({ fleet }, { n }) {
      if (fleet.store === undefined) return;
      for (const { name } of fleet.servers.values()) fleet.slowDown(name, 0);
      const leader = n === 0 ? undefined : fleet.leader();
      if (leader !== undefined) fleet.slowDown(leader.name, PAUSE_MS);
    },
  },
  stopStore: { weight: 2, act: ({ fleet }) => fleet.store?.faults.stop() },
  startStore: { weight: 3, act: ({ fleet }) => fleet.store?.faults.start() },
  wipeStore: { weight: 2, act: ({ fleet }) => fleet.store?.faults.wipe() },
  /** It comes back, and holds nothing. */
  restartStore: {
    weight: 2,
    act({ fleet }) {
      fleet.store?.faults.stop();
      fleet.store?.faults.wipe();
      fleet.store?.faults.start();
    },
  },
  slowStore: { weight: 2, n: SLOW_MS.length, act: ({ fleet }, { n }) => fleet.store?.faults.slow(SLOW_MS[n] ?? 0) },
  loseStoreWrites: { weight: 2, n: 3, act: ({ fleet }, { n }) => fleet.store?.faults.loseWrites(n + 1) },
  loseStoreAnswers: { weight: 2, n: 3, act: ({ fleet }, { n }) => fleet.store?.faults.loseAnswers(n + 1) },
  /** One of two replicas does not reach the store, through which alone they hear of each other; or reaches it again. */
  cutStore: { weight: 3, n: 2, act: ({ fleet }, { n }) => fleet.storeWays.cut(String(n + 1)) },
  reachStore: { weight: 3, n: 2, act: ({ fleet }, { n }) => fleet.storeWays.mend(String(n + 1)) },
  /** The store's own replica catches up, and later takes its place without what was written in between. */
  replicateStore: { weight: 2, act: ({ fleet }) => fleet.store?.faults.replicate() },
  failOverStore: { weight: 3, act: ({ fleet }) => fleet.store?.faults.failOver() },
  evictFromStore: { weight: 3, n: PARTS.length, act: ({ fleet }, { n }) => fleet.store?.faults.evict(PARTS[n] ?? "objects") },
  /** No room: it can be read, and nothing can be written. */
  fillStore: { weight: 2, act: ({ fleet }) => fleet.store?.faults.full(true) },
  clearStoreSpace: { weight: 2, act: ({ fleet }) => fleet.store?.faults.full(false) },
  /** From now on one server writes to the store as another version of the program would. */
  runVersion: {
    weight: 2,
    n: 2,
    v: VERSIONS.length,
    act: ({ fleet }, { n, v }) => fleet.storeWays.setVersion(String(n + 1), VERSIONS[v] ?? "same"),
  },
  loseNotices: { weight: 2, n: 6, act: ({ fleet }, { n }) => fleet.store?.faults.loseNotices(n + 1) },
};

function idOfLeader({ servers, leader, store }: Fleet): string | undefined {
  return store === undefined ? undefined : [...servers].find(([, server]) => server === leader())?.[0];
}
