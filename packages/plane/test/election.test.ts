import { allKinds, Lease } from "@isthmus/api";
import type { Clock } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { type SimulatedCluster, simulatedCluster, type VirtualClock, virtualClock } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Election, startElection, whileLeading } from "../src/index.ts";
import { leaderOnlyCluster } from "../src/leader/leadership.ts";
import { recordingLog } from "./recordingLog.ts";

const place = { name: "agent", namespace: "gloo-mesh" };

/** As it is left by who ends in order. */
const released: Lease = {
  apiVersion: Lease.apiVersion,
  kind: Lease.kind,
  metadata: place,
  spec: { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 },
};

let clock: VirtualClock;
let cluster: SimulatedCluster;
let stops: AbortController[];
beforeEach(() => {
  clock = virtualClock();
  cluster = simulatedCluster({ name: "", clock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: place.namespace } }, released]);
  stops = [];
  isCut = false;
});
afterEach(() => {
  for (const stop of stops) stop.abort(new Error("the test is over"));
});

interface Replica {
  readonly election: Election;
  readonly turns: boolean[];
  kill(): void;
}

function replica(identity: string, { over = cluster as Cluster, time = clock as Clock } = {}): Replica {
  const stop = new AbortController();
  stops.push(stop);
  const election = startElection(
    { cluster: over, lease: place, identity, clock: time, random: () => 0.5, log: recordingLog() },
    stop.signal,
  );
  const turns: boolean[] = [];
  election.onChange((isLeader) => turns.push(isLeader));
  return { election, turns, kill: () => stop.abort(new Error("killed")) };
}

const lease = async () => (await cluster.get(Lease, place))?.spec;
const failRenewals = (times: number, afterWrite = false) =>
  cluster.faults.fail({ code: "Unavailable", times, afterWrite, matches: ({ verb }) => verb === "update" });

describe("an election", () => {
  it("has one leader, which renews its lease in the form that Kubernetes takes", async () => {
    const a = replica("a");
    const b = replica("b");
    await clock.advance(60_000);
    expect([a.election.isLeader, b.election.isLeader]).toEqual([true, false]);
    expect(await lease()).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 8, leaseTransitions: 1 });
    expect((await lease())?.renewTime).toMatch(/^2025-01-01T00:0[01]:[0-9]{2}\.[0-9]{6}Z$/);
    expect(a.turns).toEqual([true]);
  });

  it("goes to another replica within seconds after the leader has died, under a higher fence", async () => {
    const a = replica("a");
    await clock.advance(5_000);
    const b = replica("b");
    await clock.advance(5_000);
    a.kill();
    expect(a.election.isLeader).toBe(false);
    await clock.advance(5_000);
    expect(b.election.isLeader).toBe(false);
    await clock.advance(6_000);
    expect(b.election.isLeader).toBe(true);
    expect(b.election.fence).toBeGreaterThan(a.election.fence);
  });

  it("goes to another replica at once when the leader resigns", async () => {
    const a = replica("a");
    const b = replica("b");
    await clock.advance(5_000);
    a.kill();
    await a.election.resign();
    expect((await lease())?.holderIdentity).toBe("");
    await clock.advance(2_000);
    expect(b.election.isLeader).toBe(true);
  });

  it("never has two leaders while the leader's API server is out of reach, and the leader stops first", async () => {
    const a = replica("a", { over: cut(cluster) });
    await clock.advance(1_000);
    const b = replica("b");
    await clock.advance(10_000);
    expect(a.election.isLeader).toBe(true);
    isCut = true;
    let stopped: number | undefined;
    for (let ms = 0; ms < 15_000; ms += 100) {
      await clock.advance(100);
      expect([a.election.isLeader, b.election.isLeader]).not.toEqual([true, true]);
      if (!a.election.isLeader) stopped ??= ms;
    }
    expect(stopped).toBeLessThan(5_000);
    expect(b.election.isLeader).toBe(true);
    isCut = false;
    await clock.advance(10_000);
    expect([a.election.isLeader, b.election.isLeader]).toEqual([false, true]);
    expect(a.turns).toEqual([true, false]);
  });

  it("does not trust the other's clock: one that is a day ahead, or behind, neither loses nor keeps the lead by it", async () => {
    for (const skew of [86_400_000, -86_400_000]) {
      const a = replica(`a${skew}`, { time: { now: () => clock.now() + skew, sleep: clock.sleep } });
      await clock.advance(3_000);
      const b = replica(`b${skew}`);
      await clock.advance(60_000);
      expect([a.election.isLeader, b.election.isLeader]).toEqual([true, false]);
      a.kill();
      await clock.advance(12_000);
      expect(b.election.isLeader).toBe(true);
      b.kill();
      await b.election.resign();
    }
  });

  it("is lost by its own clock in a replica that was paused, before that replica has heard anything", async () => {
    let pausedFor = 0;
    const a = replica("a", { time: { now: () => clock.now() + pausedFor, sleep: clock.sleep } });
    await clock.advance(3_000);
    expect(a.election.isLeader).toBe(true);
    pausedFor = 60_000;
    expect(a.election.isLeader).toBe(false);
    await expect(
      leaderOnlyCluster(cluster, a.election).create({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "late", namespace: "gloo-mesh" },
      }),
    ).rejects.toMatchObject({ code: "Unavailable" });
  });

  it("ends one turn and begins another when a replica was deposed and elected again while it was paused", async () => {
    let paused = 0;
    const a = replica("a", { time: { now: () => clock.now() + paused, sleep: clock.sleep } });
    await clock.advance(3_000);
    const held = await cluster.get(Lease, place);
    // Another one led meanwhile, and resigned.
    await cluster.update({ ...held, spec: { ...held?.spec, holderIdentity: "", leaseTransitions: 7 } } as Lease);
    paused = 3_000;
    await clock.advance(5_000);
    expect(a.turns).toEqual([true, false, true]);
    expect(a.election.fence).toBe(8);
  });

  it("stays with its holder through a renewal whose answer was lost, and through one failure", async () => {
    const a = replica("a");
    await clock.advance(3_000);
    failRenewals(1, true);
    failRenewals(1);
    await clock.advance(20_000);
    expect(a.election.isLeader).toBe(true);
    expect(a.turns).toEqual([true]);
  });

  it("waits before it takes over from the holder of a lease that somebody deleted", async () => {
    const a = replica("a", { over: cut(cluster) });
    await clock.advance(1_000);
    const b = replica("b");
    await clock.advance(5_000);
    isCut = true;
    await cluster.delete({ apiVersion: Lease.apiVersion, kind: Lease.kind, ...place, clusterName: "" });
    for (let ms = 0; ms < 15_000; ms += 100) {
      await clock.advance(100);
      expect([a.election.isLeader, b.election.isLeader]).not.toEqual([true, true]);
    }
    expect(b.election.isLeader).toBe(true);
    expect(b.election.fence).toBe(2);
  });
});

describe("a lease that is not what it was", () => {
  /** Whether two replicas lead at once at any time within `ms`. */
  async function neverTwo(ms: number, ...replicas: readonly Replica[]): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await clock.advance(100);
      expect(replicas.filter(({ election }) => election.isLeader).length).toBeLessThan(2);
    }
  }
  const remove = () => cluster.delete({ apiVersion: Lease.apiVersion, kind: Lease.kind, ...place, clusterName: "" });

  it("is taken at once and leads after 5 s where there is none: a former leader may not have noticed yet", async () => {
    await remove();
    const a = replica("a");
    await clock.advance(4_900);
    expect([(await lease())?.holderIdentity, a.election.isLeader]).toEqual(["a", false]);
    await clock.advance(200);
    expect(a.turns).toEqual([true]);
  });

  it("has one leader at a time when somebody deletes it while another replica starts", async () => {
    const a = replica("a", { over: cut(cluster) });
    await clock.advance(3_000);
    isCut = true;
    await remove();
    const b = replica("b");
    await neverTwo(12_000, a, b);
    expect(b.election.isLeader).toBe(true);
  });

  it("has one leader at a time when it says again what it said in an earlier turn, as after etcd was restored", async () => {
    for (const holderIdentity of ["a", ""]) {
      await cluster.update(released);
      const a = replica("a");
      await clock.advance(3_000);
      const early = await cluster.get(Lease, place);
      failRenewals(4);
      await clock.advance(3_000);
      const b = replica("b");
      await clock.advance(3_000);
      await cluster.update({ ...released, spec: { ...early?.spec, holderIdentity: "", leaseTransitions: 5 } } as Lease);
      await clock.advance(9_000);
      const leading = [a, b].find(({ election }) => election.isLeader);
      const fence = leading?.election.fence ?? 0;
      expect(fence).toBeGreaterThan(5);
      const [other] = [a, b].filter((one) => one !== leading);
      const identity = holderIdentity === "" ? "" : other === a ? "a" : "b";
      await cluster.update({ ...released, spec: { ...early?.spec, holderIdentity: identity, leaseTransitions: 1 } } as Lease);
      await neverTwo(20_000, a, b);
      const now = [a, b].find(({ election }) => election.isLeader);
      expect(now?.election.fence).toBeGreaterThan(fence);
      for (const { kill } of [a, b]) kill();
    }
  });

  it("has one leader at a time when it is restored as it was before the first turn, and the other had only lost the race for that", async () => {
    const slow: Cluster = { ...cluster, update: (resource, signal) => clock.sleep(10).then(() => cluster.update(resource, signal)) };
    const a = replica("a", { over: cut(cluster) });
    const b = replica("b", { over: slow });
    await clock.advance(1_000);
    expect([a.election.isLeader, b.election.isLeader]).toEqual([true, false]);
    isCut = true;
    await cluster.update(released);
    await neverTwo(12_000, a, b);
    expect(b.election.isLeader).toBe(true);
  });
});

describe("a clock that is set", () => {
  function settable(): Clock & { skew: number } {
    return {
      skew: 0,
      now() {
        return clock.now() + this.skew;
      },
      uptime: () => clock.now(),
      sleep: clock.sleep,
    };
  }

  it("back does not let a leader lead on whose API server is out of reach", async () => {
    const time = settable();
    const a = replica("a", { over: cut(cluster), time });
    await clock.advance(3_000);
    const b = replica("b");
    await clock.advance(3_000);
    isCut = true;
    time.skew = -3_600_000;
    await clock.advance(12_000);
    expect([a.election.isLeader, b.election.isLeader]).toEqual([false, true]);
  });

  it("forward and back ends one turn and begins another: who found that nobody led hears when somebody does", async () => {
    const time = settable();
    const a = replica("a", { time });
    await clock.advance(3_000);
    time.skew = 3_600_000;
    expect(a.election.isLeader).toBe(false);
    time.skew = 0;
    expect(a.election.isLeader).toBe(false);
    await clock.advance(3_000);
    expect(a.election.isLeader).toBe(true);
    expect(a.turns).toEqual([true, false, true]);
  });

  it("forward does not give another replica the lead", async () => {
    const a = replica("a", { over: cut(cluster) });
    await clock.advance(3_000);
    const time = settable();
    const b = replica("b", { time });
    await clock.advance(3_000);
    isCut = true;
    await clock.advance(1_600);
    time.skew = 3_600_000;
    await clock.advance(1_600);
    isCut = false;
    await clock.advance(12_000);
    expect([a.turns, b.turns]).toEqual([[true], []]);
  });
});

describe("work of the leader alone", () => {
  it("starts with each turn, ends with it, and is again each time", async () => {
    const a = replica("a");
    const stop = new AbortController();
    stops.push(stop);
    const events: string[] = [];
    let turn = 0;
    const start = (signal: AbortSignal) => {
      const name = ++turn;
      events.push(`start ${name}`);
      const ended = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          events.push(`end ${name}`);
          resolve();
        });
      });
      return { ended };
    };
    const over = whileLeading(a.election, start, stop.signal);
    await clock.advance(1_000);
    expect(events).toEqual(["start 1"]);
    failRenewals(4);
    await clock.advance(6_000);
    expect(events).toEqual(["start 1", "end 1"]);
    await clock.advance(20_000);
    expect(events).toEqual(["start 1", "end 1", "start 2"]);
    stop.abort(new Error("stopped"));
    await over;
    expect(events).toEqual(["start 1", "end 1", "start 2", "end 2"]);
  });
});

let isCut = false;

/** A way to the API server that can be cut. */
function cut(to: Cluster): Cluster {
  async function through<T>(call: () => Promise<T>): Promise<T> {
    if (isCut) throw new ClusterError("Unavailable", "the API server cannot be reached");
    return call();
  }
  return {
    ...to,
    get: (kind, ref, signal) => through(() => to.get(kind, ref, signal)),
    update: (resource, signal) => through(() => to.update(resource, signal)),
  };
}
