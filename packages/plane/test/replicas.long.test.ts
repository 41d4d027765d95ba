import { Destination, Lease, Mesh, Namespace, ServiceEntry, VirtualService } from "@isthmus/api";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, type Election, startElection } from "../src/index.ts";
import { type AgentSettings, bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let stops: AbortController[];
beforeEach(() => {
  fleet = demoFleet();
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) stop.abort(new Error("the test is over"));
  await fleet.stop();
});

const clusterNames = ["cluster-1", "cluster-2"];
const of = (name: string) => fleet.clusters[name] as SimulatedCluster;

/** One replica with its election and its way to the API server, which can be stopped as SIGSTOP would. */
interface Standing extends AgentSettings {
  readonly election: Election;
  /** Nothing of the replica gets through from now on; what it had begun waits. */
  pause(): void;
  /** It continues, and all that waited gets through, in order. */
  wake(): void;
  die(): void;
}

function standing(name: string, place: string, cluster: SimulatedCluster): Standing {
  const stop = new AbortController();
  stops.push(stop);
  let gate: Promise<void> | undefined;
  let open: () => void = () => undefined;
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    await gate;
    return call();
  };
  const gated = (to: Cluster): Cluster => ({
    ...to,
    get: (kind, ref, signal) => through(() => to.get(kind, ref, signal)),
    list: (kind, options, signal) => through(() => to.list(kind, options, signal)),
    apply: (resource, options) => through(() => to.apply(resource, options)),
    applyStatus: (resource, options) => through(() => to.applyStatus(resource, options)),
    create: (resource) => through(() => to.create(resource)),
    update: (resource) => through(() => to.update(resource)),
    delete: (ref, preconditions) => through(() => to.delete(ref, preconditions)),
  });
  const election = startElection(
    {
      cluster: gated(cluster),
      lease: { name: place, namespace: "gloo-mesh" },
      identity: name,
      timing: { leaseMs: 3_000, deadlineMs: 2_000, retryMs: 200 },
      clock,
      random: () => 0.5,
      log: recordingLog(),
    },
    stop.signal,
  );
  return {
    name,
    leadership: election,
    election,
    over: gated,
    pause() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    wake() {
      gate = undefined;
      open();
    },
    die: () => stop.abort(new Error("killed")),
  };
}

/** Two replicas of the agent of each cluster; the first ones lead. */
async function agents(): Promise<Readonly<Record<string, readonly [Standing, Standing]>>> {
  const all: Record<string, readonly [Standing, Standing]> = {};
  for (const name of clusterNames) {
    await of(name).apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } }, { fieldManager: "user" });
    const first = standing("a", "gloo-mesh-agent", of(name));
    await eventually(() => expect(first.election.isLeader).toBe(true));
    const second = standing("b", "gloo-mesh-agent", of(name));
    fleet.startAgent(name, first);
    fleet.startAgent(name, second);
    all[name] = [first, second];
  }
  return all;
}

async function isApplied(): Promise<boolean> {
  const { state, conditions = [] } = await statusOf(fleet, bookinfoMesh);
  return state === "ACCEPTED" && conditions.some(({ type, status }) => type === "Applied" && status === "True");
}

const timeoutIn = async (name: string) =>
  (await of(name).get(VirtualService, { name: "reviews", namespace: "bookinfo" }))?.spec?.http?.[0]?.timeout;

describe("two replicas of an agent", () => {
  it("hold one connection, and when the leader dies the other takes over: nothing is lost, and nothing is written", async () => {
    await register(fleet);
    fleet.startServer();
    const replicas = await agents();
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect(await isApplied()).toBe(true));
    const before = clusterNames.flatMap((name) => written(of(name)));
    for (const name of clusterNames) {
      replicas[name]?.[0].die();
      await fleet.stopAgent(`${name}a`);
    }
    await eventually(() => expect(clusterNames.map((name) => replicas[name]?.[1].election.isLeader)).toEqual([true, true]));
    await eventually(() => expect([...fleet.server().store.clusters.values()].map(({ phase }) => phase)).toEqual(["synced", "synced"]));
    await quiet();
    expect(clusterNames.flatMap((name) => written(of(name)))).toEqual(before);
    // The one that took over carries out what is desired from now on.
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await Promise.all(clusterNames.map(timeoutIn))).toEqual(["2s", "2s"]));
  });

  it("survive a leader that is paused in the midst of its writes and wakes up deposed: what it had begun changes nothing", async () => {
    await register(fleet);
    fleet.startServer();
    const replicas = await agents();
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect(await isApplied()).toBe(true));
    const [paused, other] = replicas["cluster-1"] as readonly [Standing, Standing];
    paused.pause();
    // It is reported of this one, and begins to write it.
    await fleet.management.create(timeoutPolicy);
    await eventually(() => expect(other.election.isLeader).toBe(true));
    await eventually(async () => expect(await timeoutIn("cluster-1")).toBe("2s"));
    // Its successor has made other changes by now.
    const { resourceVersion: _, ...metadata } = timeoutPolicy.metadata;
    await fleet.management.apply(
      { ...timeoutPolicy, metadata, spec: { ...timeoutPolicy.spec, policy: { requestTimeout: "7s" } } } as typeof timeoutPolicy,
      { fieldManager: "user", force: true },
    );
    await eventually(async () => expect(await timeoutIn("cluster-1")).toBe("7s"));
    await quiet();
    const before = written(of("cluster-1"));
    paused.wake();
    await quiet(1_000);
    expect(paused.election.isLeader).toBe(false);
    expect(written(of("cluster-1"))).toEqual(before);
  });
});

describe("two management servers", () => {
  const published = async () => ({
    meshes: (await fleet.management.list(Mesh)).items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
    destinations: (await fleet.management.list(Destination)).items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
  });

  it("write into the management cluster by the leader alone", async () => {
    await register(fleet);
    const leader = standing("a", "gloo-mesh-mgmt-server", fleet.management);
    await eventually(() => expect(leader.election.isLeader).toBe(true));
    const follower = standing("b", "gloo-mesh-mgmt-server", fleet.management);
    // Agents are connected to the one that does not lead: it tells them what to do, and writes nothing itself.
    fleet.startServer("server", follower);
    fleet.startServer("leader", leader);
    for (const name of clusterNames) fleet.startAgent(name);
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect(await ours(of("cluster-1"), ServiceEntry)).not.toEqual([]));
    await quiet();
    expect((await published()).meshes).toEqual([]);
    leader.die();
    await eventually(async () => expect((await published()).meshes).toHaveLength(2));
    await eventually(async () => expect(await isApplied()).toBe(true));
  });

  it("fail over: the new leader publishes what was published, and writes nothing new", async () => {
    await register(fleet);
    const leader = standing("a", "gloo-mesh-mgmt-server", fleet.management);
    await eventually(() => expect(leader.election.isLeader).toBe(true));
    const other = standing("b", "gloo-mesh-mgmt-server", fleet.management);
    fleet.startServer("server", leader);
    fleet.startServer("other", other);
    for (const name of clusterNames) fleet.startAgent(name);
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect(await isApplied()).toBe(true));
    await quiet();
    const before = await published();
    const inClusters = clusterNames.flatMap((name) => written(of(name)));
    leader.die();
    for (const name of clusterNames) fleet.route(name, "other");
    await fleet.stopServer();
    await eventually(() => expect(other.election.isLeader).toBe(true));
    await quiet(3_000);
    expect(await published()).toEqual(before);
    expect(clusterNames.flatMap((name) => written(of(name)))).toEqual(inClusters);
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await Promise.all(clusterNames.map(timeoutIn))).toEqual(["2s", "2s"]));
  });

  it("survive a leader that wakes up deposed: no status and no discovered object goes back to what it said before", async () => {
    await register(fleet);
    const paused = standing("a", "gloo-mesh-mgmt-server", fleet.management);
    await eventually(() => expect(paused.election.isLeader).toBe(true));
    const other = standing("b", "gloo-mesh-mgmt-server", fleet.management);
    fleet.startServer("server", paused);
    fleet.startServer("other", other);
    for (const name of clusterNames) fleet.startAgent(name);
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect(await isApplied()).toBe(true));
    paused.pause();
    // It begins to write what it makes of this, and gets no further; statuses may follow 200 ms after those before.
    await fleet.management.create(timeoutPolicy);
    await quiet(600);
    for (const name of clusterNames) {
      fleet.route(name, "other");
      await fleet.stopAgent(name);
      fleet.startAgent(name);
    }
    await eventually(() => expect(other.election.isLeader).toBe(true));
    await eventually(async () => expect((await statusOf(fleet, timeoutPolicy)).state).toBe("ACCEPTED"));
    await eventually(async () => expect(await isApplied()).toBe(true));
    const known = () => fleet.management.objects().filter(({ kind }) => kind !== Lease.kind && kind !== Namespace.kind);
    const before = await eventually(async () => {
      const now = known();
      await quiet(1_000);
      expect(known()).toEqual(now);
      return now;
    });
    paused.wake();
    await quiet(1_000);
    expect(known()).toEqual(before);
  });
});
