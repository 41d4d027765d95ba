import { ServiceEntry } from "@isthmus/api";
import { type Delta, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { type Applier, startApplier } from "../src/apply/applier.ts";
import { FIELD_MANAGER } from "../src/apply/ownership.ts";
import { startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually } from "./virtualTime.ts";

const owner = { label: "owner.networking.mesh.gloo.solo.io", value: "gloo-mesh" } as const;

function entry(name: string, host: string, labels: Record<string, string> = { [owner.label]: owner.value }): Resource {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "istio-system", clusterName: "a", labels },
    spec: { hosts: [host], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  } as Resource;
}

let stop = new AbortController();
afterEach(() => stop.abort());

async function started(): Promise<{ cluster: SimulatedCluster; applier: Applier; hostOf: (name: string) => Promise<string | undefined> }> {
  stop = new AbortController();
  const cluster = simulatedCluster({ name: "a", clock, kinds: [ServiceEntry] });
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
  const shared = { cluster, clock, random: () => 0, log: recordingLog() };
  const view = startInformer({ ...shared, kinds: [ServiceEntry], changed: (delta: Delta) => applier.observed(delta) }, stop.signal);
  const applier = startApplier(
    { ...shared, kinds: [ServiceEntry], owners: [owner], live: () => view.snapshot, onChange: () => undefined },
    stop.signal,
  );
  await eventually(() => expect(view.isComplete).toBe(true));
  const hostOf = async (name: string) => (await cluster.get(ServiceEntry, { name, namespace: "istio-system" }))?.spec?.hosts?.[0];
  return { cluster, applier, hostOf };
}

describe("drift", () => {
  it("is restored: what somebody edits, and what somebody deletes", async () => {
    const { cluster, applier, hostOf } = await started();
    applier.put(entry("one", "one.global"));
    await eventually(async () => expect(await hostOf("one")).toBe("one.global"));
    await cluster.apply(entry("one", "edited.example"), { fieldManager: "kubectl-edit", force: true });
    await eventually(async () => expect(await hostOf("one")).toBe("one.global"));
    await cluster.delete(refOf(entry("one", "")));
    await eventually(async () => expect(await hostOf("one")).toBe("one.global"));
  });

  it("stays once nothing is desired any more, and pending deletes are not carried out", async () => {
    const { cluster, applier, hostOf } = await started();
    applier.put(entry("one", "one.global"));
    applier.put(entry("two", "two.global"));
    await eventually(async () => expect([await hostOf("one"), await hostOf("two")]).toEqual(["one.global", "two.global"]));
    applier.prune(refOf(entry("two", "")), "not in the desired state");
    applier.put(entry("three", "three.global"));
    applier.releaseAll();
    await cluster.apply(entry("one", "edited.example"), { fieldManager: "kubectl-edit", force: true });
    applier.put(entry("four", "four.global"));
    await eventually(async () => expect(await hostOf("four")).toBe("four.global"));
    expect(await Promise.all(["one", "two", "three"].map(hostOf))).toEqual(["edited.example", "two.global", undefined]);
  });

  it("of what is not ours is nobody's business here", async () => {
    const { cluster, applier, hostOf } = await started();
    await cluster.apply(entry("theirs", "theirs.example", {}), { fieldManager: "kubectl" });
    applier.put(entry("theirs", "ours.global"));
    applier.put(entry("one", "one.global"));
    await eventually(async () => expect(await hostOf("one")).toBe("one.global"));
    await cluster.apply(entry("theirs", "changed.example", {}), { fieldManager: "kubectl" });
    await eventually(() => expect(applier.rejections.get(resourceKeyOf(refOf(entry("theirs", ""))))?.code).toBe("Conflict"));
    expect(await hostOf("theirs")).toBe("changed.example");
  });

  it("counts from the first change of what was found as it should be", async () => {
    const { cluster, applier, hostOf } = await started();
    const key = resourceKeyOf(refOf(entry("one", "")));
    // As the agent before this one has left it.
    await cluster.apply(entry("one", "one.global"), { fieldManager: FIELD_MANAGER });
    await clock.advance(1_000);
    applier.put(entry("one", "one.global"));
    await clock.advance(1_000);
    let edits = 0;
    for (; applier.rejections.get(key) === undefined && edits < 20; await clock.advance(1_000)) {
      await cluster.apply(entry("one", `edit-${edits++}.example`), { fieldManager: "other-controller", force: true });
      await eventually(async () => expect(await hostOf("one")).toBe("one.global"));
    }
    expect(edits).toBe(5);
  });

  it("that comes back each time is a conflict: its writer and its field are named, and it slows down", async () => {
    const { cluster, applier, hostOf } = await started();
    const key = resourceKeyOf(refOf(entry("one", "")));
    applier.put(entry("one", "one.global"));
    let rounds = 0;
    // Another controller, as fast as we are.
    while (applier.rejections.get(key) === undefined && rounds < 50) {
      await eventually(async () => expect(await hostOf("one")).toBe("one.global"));
      if (applier.rejections.get(key) !== undefined) break;
      await cluster.apply(entry("one", `round-${rounds++}.example`), { fieldManager: "other-controller", force: true });
    }
    expect(rounds).toBeLessThan(12);
    const rejection = applier.rejections.get(key);
    expect(rejection).toMatchObject({ code: "Conflict" });
    expect(rejection?.message).toContain("ServiceEntry istio-system/one in a, spec.hosts, is repeatedly changed by other-controller");
    // We no longer answer each blow: restored at once, it would be restored dozens of times meanwhile.
    let blows = 0;
    for (const end = clock.now() + 3_000; clock.now() < end; await clock.advance(10)) {
      if ((await hostOf("one")) !== "one.global") continue;
      await cluster.apply(entry("one", `blow-${blows++}.example`), { fieldManager: "other-controller", force: true });
    }
    expect(blows).toBeGreaterThan(0);
    expect(blows).toBeLessThan(8);
  });
});
