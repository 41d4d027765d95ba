import { Lease } from "@isthmus/api";
import type { Fleet } from "../fleet.ts";
import { AGENT_LEASE, SERVER_LEASE } from "../processes.ts";
import type { Stage, StepKinds } from "../step.ts";

const BACK = [1, 3, 10, 40];
const BUMP = 1_000_000;
const RESTORE_MS = 1_000;
const SKEWS_MS = [-3_600_000, -60_000, -4_000, 4_000, 60_000, 3_600_000];

/** What shows or brings back a state that is over, and clocks that say another time. */
export const pastSteps: StepKinds = {
  /** A watch cache lags: what is listed next is older than what was seen, and watches go on from there. Never older than the last rest. */
  staleLists: {
    weight: 4,
    n: BACK.length,
    v: 6,
    isAboutCluster: true,
    act(stage, { cluster, n, v }) {
      const name = v === 0 ? "" : cluster;
      const simulated = name === "" ? stage.fleet.management : stage.fleet.clusters.get(name);
      const revision = Math.max(stage.restedAt(name).revision, (simulated?.revision ?? 0) - (BACK[n] ?? 1));
      simulated?.faults.staleLists(revision, STALE_LISTS);
      simulated?.faults.cutWatches();
      // Every kind is listed again: nobody can go on from where they were.
      stage.fleet.calls.failNext(name, { code: "Expired", afterWrite: false, verbs: Array(STALE_LISTS).fill("watch") });
    },
  },
  /** etcd is restored from a backup of the last rest, with revisions that go on from far above (`n` 1) or come again. */
  restoreEtcd: { weight: 2, n: 2, isAboutCluster: true, act: (stage, { cluster, n }) => restore(stage, cluster, n === 1) },
  restoreManagementEtcd: { weight: 1, n: 2, act: (stage, { n }) => restore(stage, "", n === 1) },
  /** The clock of one process is set, for as long as it runs: of the leading server (`v` 0), or of an agent. */
  setClock: {
    weight: 3,
    n: SKEWS_MS.length,
    v: 3,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      const process = v === 0 ? nameOfServer(fleet, cluster) : fleet.leadingAgents(cluster)[0]?.name;
      if (process !== undefined) fleet.setClock(process, SKEWS_MS[n] ?? 0);
    },
  },
  /** Somebody deletes the Lease of the servers or of an agent's replicas. */
  deleteLease: {
    weight: 2,
    n: 2,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const [place, lease] = n === 0 ? ["", SERVER_LEASE] : [cluster, AGENT_LEASE];
      stage.remove(place, { apiVersion: Lease.apiVersion, kind: Lease.kind, ...lease, clusterName: place });
    },
  },
  /** Somebody writes another holder into it. */
  usurpLease: {
    weight: 2,
    n: 2,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const [place, lease] = n === 0 ? ["", SERVER_LEASE] : [cluster, AGENT_LEASE];
      const found = stage.object({ apiVersion: Lease.apiVersion, kind: Lease.kind, ...lease, clusterName: place });
      if (found === undefined) return;
      const { resourceVersion: _, ...metadata } = found.metadata;
      stage.replace(place, { ...found, metadata, spec: { ...(found["spec"] as object), holderIdentity: "somebody" } });
    },
  },
};

// As many as kinds are listed when all watches of a cluster end, by each of two processes.
const STALE_LISTS = 40;

/**
 * With revisions that come again, a watch that begins late may miss what lies between, and no client of an API server can tell. So who
 * restores without `--bump-revision` starts its clients again. Source: kubernetes.io/docs/tasks/administer-cluster/configure-upgrade-etcd
 */
async function restore(stage: Stage, clusterName: string, isBumped: boolean): Promise<void> {
  const { fleet } = stage;
  if (isBumped) {
    await awayFor(fleet, clusterName);
    stage.restore(clusterName, BUMP);
    return;
  }
  const restart = clusterName === "" ? await stopServers(fleet) : await stopAgents(fleet, clusterName);
  stage.restore(clusterName, 0);
  restart();
}

/** API servers are stopped while their etcd is restored: what they were about to report has been reported. */
async function awayFor(fleet: Fleet, clusterName: string): Promise<void> {
  const faults = (clusterName === "" ? fleet.management : fleet.clusters.get(clusterName))?.faults;
  if (faults?.isReachable !== true) return;
  faults.reachable(false);
  await fleet.clock.advance(RESTORE_MS);
  faults.reachable(true);
}

async function stopServers(fleet: Fleet): Promise<() => void> {
  const ids = [...fleet.servers.keys()];
  for (const id of ids) await fleet.stopServer(id);
  await fleet.serversEnded();
  return () => {
    for (const id of ids) fleet.startServer(id);
  };
}

async function stopAgents(fleet: Fleet, clusterName: string): Promise<() => void> {
  const instances = fleet.agentsOf(clusterName);
  for (const instance of instances) await fleet.stopAgent(clusterName, instance);
  return () => {
    for (const instance of instances) fleet.startAgent(clusterName, instance);
  };
}

function nameOfServer(fleet: Fleet, cluster: string): string | undefined {
  // Some other replica, now and then.
  const others = [...fleet.servers.values()].filter((server) => server !== fleet.leader());
  return cluster === "b" && others.length > 0 ? others[0]?.name : fleet.leader()?.name;
}
