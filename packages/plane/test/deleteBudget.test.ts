import { Destination, ServiceEntry, VirtualMesh } from "@isthmus/api";
import { type Delta, kindKeyOf, noMeter, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { Acknowledgement, DeleteRequest } from "@isthmus/ports";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { type Downstream, downstream } from "../src/agent/downstream.ts";
import { requestCheck } from "../src/agent/limits.ts";
import { startApplier } from "../src/apply/applier.ts";
import { DELETE_LIMITS, deleteBudget, type PlannedRemoval } from "../src/apply/deleteBudget.ts";
import { FIELD_MANAGER } from "../src/apply/ownership.ts";
import { startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

const owner = { label: "owner.networking.mesh.gloo.solo.io", value: "gloo-mesh" } as const;

function entry(i: number): Resource {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name: `entry-${i}`, namespace: "istio-system", clusterName: "a", labels: { [owner.label]: owner.value } },
    spec: { hosts: [`entry-${i}.global`], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  } as Resource;
}

function unseen(...numbers: number[]): readonly PlannedRemoval[] {
  return numbers.map((i) => ({ ref: refOf(entry(i)), reason: "gone", isOnPurpose: false }));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

describe("delete budget", () => {
  it("lets fifty objects go in a minute, or a fifth of many, and holds a mass deletion back as a whole", () => {
    const small = deleteBudget(() => 0);
    expect(small.admit(unseen(...range(0, 50)), 60)).toHaveLength(50);
    expect(small.admit(unseen(50), 10)).toHaveLength(0);
    expect(small.held.size).toBe(1);

    const large = deleteBudget(() => 0);
    expect(large.admit(unseen(...range(0, 200)), 1_000)).toHaveLength(200);
    expect(deleteBudget(() => 0).admit(unseen(...range(0, 201)), 1_000)).toHaveLength(0);
  });

  it("counts a minute, not a life", () => {
    let now = 0;
    const budget = deleteBudget(() => now);
    expect(budget.admit(unseen(...range(0, 50)), 100)).toHaveLength(50);
    now = 61_000;
    expect(budget.admit(unseen(...range(50, 100)), 50)).toHaveLength(50);
  });

  it("counts an hour for the limit that holds for all, to the millisecond", () => {
    const afterwards = (passed: number): number => {
      let now = 0;
      const budget = deleteBudget(() => now, undefined, DELETE_LIMITS);
      const asked = unseen(...range(0, 51)).map((removal) => ({ ...removal, isOnPurpose: true }));
      expect(budget.admit(asked.slice(0, 50), 100)).toHaveLength(50);
      now = passed;
      return budget.admit(asked.slice(50), 50).length;
    };
    expect([3_599_999, 3_600_000].map(afterwards)).toEqual([0, 1]);
  });

  it("never holds back what somebody asked for", () => {
    const budget = deleteBudget(() => 0);
    const asked = unseen(...range(0, 300)).map((removal) => ({ ...removal, isOnPurpose: true }));
    expect(budget.admit(asked, 300)).toHaveLength(300);
  });

  it("once paused holds back what follows, until somebody resumes", () => {
    const budget = deleteBudget(() => 0);
    budget.admit(unseen(...range(0, 60)), 60);
    expect(budget.admit(unseen(60), 60)).toHaveLength(0);
    budget.keep(refOf(entry(3)));
    expect(budget.resume("server", 60)).toHaveLength(60);
    expect(budget.held.size).toBe(0);
    expect(budget.admit(unseen(61), 60)).toHaveLength(1);
  });
});

let stop = new AbortController();
afterEach(() => stop.abort());

async function holding(
  count: number,
  sees: (ref: ResourceRef) => boolean = () => true,
): Promise<{
  readonly cluster: SimulatedCluster;
  readonly down: Downstream;
  readonly acknowledged: () => Acknowledgement | undefined;
  readonly names: () => Promise<number>;
  /** What was logged. */
  readonly infos: readonly string[];
  /** Whether anything may be written. */
  readonly mode: { mayWrite: boolean };
}> {
  stop = new AbortController();
  const log = recordingLog();
  const cluster = simulatedCluster({ name: "a", clock, kinds: [ServiceEntry] });
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
  const shared = { cluster, clock, random: () => 0, log };
  let last: Acknowledgement | undefined;
  const mode = { mayWrite: true };
  const link = {
    observe: () => undefined,
    synced: () => undefined,
    acknowledge(acknowledgement: Acknowledgement) {
      last = acknowledgement;
    },
  };
  const view = startInformer({ ...shared, kinds: [ServiceEntry], changed: (delta: Delta) => down.observed(delta) }, stop.signal);
  const applier = startApplier(
    { ...shared, kinds: [ServiceEntry], owners: [owner], live: () => view.snapshot, onChange: () => down.applierChanged() },
    stop.signal,
  );
  const discovered = new Set([kindKeyOf(Destination)]);
  const down: Downstream = downstream(
    {
      link,
      applier,
      gate: { mayWrite: () => mode.mayWrite, mode: undefined },
      isViewComplete: () => view.isComplete,
      kinds: () => view.kinds,
      mayHold: (ref) => sees(ref) && view.snapshot.of(ServiceEntry).get(ref) !== undefined,
      isOurs: (resource) => resource.metadata.labels?.[owner.label] === owner.value,
      isConnected: () => true,
      discovered,
      deleteLimits: () => DELETE_LIMITS,
      removalsPerHour: undefined,
      requests: requestCheck({ kinds: [ServiceEntry], owners: [owner], limits: {} }),
      resumedOn: "Namespace gloo-mesh",
      meter: noMeter,
      clock,
      log,
    },
    stop.signal,
  );
  await eventually(() => expect(view.isComplete).toBe(true));
  down.desired({ revision: 1, complete: true, put: range(0, count).map(entry), remove: [] });
  const names = async () => (await cluster.list(ServiceEntry)).items.length;
  await eventually(async () => expect(await names()).toBe(count));
  await eventually(() => expect(last?.rejected).toEqual([]));
  return { cluster, down, acknowledged: () => last, names, infos: log.infos, mode };
}

function removals(
  count: number,
  input: Pick<ResourceRef, "apiVersion" | "kind">,
  reason: DeleteRequest["evidence"]["reason"] = "InputRemoved",
): readonly DeleteRequest[] {
  return range(0, count).map((i) => ({
    ref: refOf(entry(i)),
    evidence: {
      reason,
      inputs: [{ apiVersion: input.apiVersion, kind: input.kind, name: `cause-${i}`, namespace: "gloo-mesh", clusterName: "" }],
    },
  }));
}

describe("an agent that is to remove sixty objects at once", () => {
  it("holds them when what they came from is merely no longer seen, says so, and lets them go on a word", async () => {
    const { down, acknowledged, names } = await holding(60);
    down.desired({ revision: 2, complete: false, put: [], remove: removals(60, Destination) });
    await eventually(() => expect(acknowledged()).toMatchObject({ revision: 2 }));
    expect(acknowledged()?.rejected).toHaveLength(60);
    expect(acknowledged()?.rejected[0]).toMatchObject({ code: "Held" });
    expect(await names()).toBe(60);

    expect(down.resumeDeletes("server")).toBe(60);
    await eventually(async () => expect(await names()).toBe(0));
    await eventually(() => expect(acknowledged()?.rejected).toEqual([]));
  });

  it("holds them all the same when they came one by one while nothing might be written", async () => {
    const { down, acknowledged, names, mode } = await holding(60);
    mode.mayWrite = false;
    down.modeChanged();
    for (const [i, removal] of removals(60, Destination).entries()) {
      down.desired({ revision: i + 2, complete: false, put: [], remove: [removal] });
      await quiet(120_000);
    }
    await eventually(() => expect(acknowledged()?.rejected.map(({ code }) => code)).toEqual(range(0, 60).map(() => "WouldDelete")));
    mode.mayWrite = true;
    down.modeChanged();
    await eventually(() => expect(acknowledged()?.rejected.map(({ code }) => code)).toEqual(range(0, 60).map(() => "Held")));
    expect(await names()).toBe(60);
    expect(down.resumeDeletes("server")).toBe(60);
    await eventually(async () => expect(await names()).toBe(0));
  });

  it("holds them when what they came from is discovered otherwise: a user of the cluster may have had it so", async () => {
    const { down, acknowledged, names } = await holding(60);
    down.desired({ revision: 2, complete: false, put: [], remove: removals(60, Destination, "InputChanged") });
    await eventually(() => expect(acknowledged()?.rejected.map(({ code }) => code)).toEqual(range(0, 60).map(() => "Held")));
    expect(await names()).toBe(60);
  });

  it.each(["InputRemoved", "InputChanged"] as const)("removes them when a user's object asked for it: %s", async (reason) => {
    const { down, names } = await holding(60);
    down.desired({ revision: 2, complete: false, put: [], remove: removals(60, VirtualMesh, reason) });
    await eventually(async () => expect(await names()).toBe(0));
  });

  it("holds them when a complete set suddenly lacks them, and forgets about those that are desired again", async () => {
    const { down, acknowledged, names } = await holding(60);
    down.desired({ revision: 2, complete: true, put: [], remove: [] });
    await eventually(() => expect(acknowledged()?.rejected).toHaveLength(60));
    expect(await names()).toBe(60);
    down.desired({ revision: 3, complete: true, put: range(0, 60).map(entry), remove: [] });
    await eventually(() => expect(acknowledged()).toEqual({ revision: 3, rejected: [] }));
    expect(down.resumeDeletes("server")).toBe(0);
    expect(await names()).toBe(60);
  });

  it("forgets why they were to go when the cluster is deregistered: what is ordered later has reasons of its own", async () => {
    const { down, acknowledged, names, infos } = await holding(60);
    down.desired({ revision: 2, complete: false, put: [], remove: removals(60, Destination) });
    await eventually(() => expect(down.held).toBe(60));
    down.release();
    expect(down.held).toBe(0);
    expect(down.resumeDeletes("server")).toBe(0);

    down.desired({ revision: 3, complete: true, put: [], remove: [] });
    await eventually(() => expect(acknowledged()).toMatchObject({ revision: 3 }));
    expect(acknowledged()?.rejected).toHaveLength(60);
    expect(down.resumeDeletes("server")).toBe(60);
    await eventually(async () => expect(await names()).toBe(0));
    const deleted = infos.filter((line) => line.startsWith("deleted "));
    expect(deleted).toHaveLength(60);
    for (const line of deleted) expect(line).toMatch(/: not in the complete desired state of this cluster$/);
  });

  it("holds nothing of a few, when it is reported of many others that never came here", async () => {
    const { down, acknowledged, names } = await holding(3);
    down.desired({ revision: 2, complete: false, put: [], remove: removals(60, Destination) });
    await eventually(async () => expect(await names()).toBe(0));
    await eventually(() => expect(acknowledged()).toEqual({ revision: 2, rejected: [] }));
  });

  it("removes none of those that it does not see, as their number is not known: they may be there all the same", async () => {
    const mine = new Set(range(0, 3).map((i) => entry(i).metadata.name));
    const { cluster, down, acknowledged, names } = await holding(3, ({ name }) => mine.has(name));
    for (const i of range(3, 63)) await cluster.apply(entry(i), { fieldManager: FIELD_MANAGER });
    down.desired({ revision: 2, complete: false, put: [], remove: removals(63, Destination) });
    await eventually(() => expect(acknowledged()).toEqual({ revision: 2, rejected: [] }));
    await eventually(async () => expect(await names()).toBe(60));
  });
});
