import { ServiceEntry } from "@isthmus/api";
import { type Delta, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Applier, startApplier } from "../src/applier.ts";
import { viewCluster } from "../src/clusterView.ts";
import { systemClock } from "../src/systemClock.ts";
import { recordingLog } from "./recordingLog.ts";

const owner = { label: "owner.networking.mesh.gloo.solo.io", value: "gloo-mesh" } as const;
const PUT_BACK = { timeout: 5_000, interval: 10 };

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
  const cluster = simulatedCluster({ name: "a", clock: systemClock, kinds: [ServiceEntry] });
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
  const shared = { cluster, clock: systemClock, random: () => 0, log: recordingLog() };
  const view = viewCluster({ ...shared, kinds: [ServiceEntry], changed: (delta: Delta) => applier.observed(delta) }, stop.signal);
  const applier = startApplier(
    { ...shared, kinds: [ServiceEntry], owners: [owner], live: () => view.snapshot, settled: () => undefined },
    stop.signal,
  );
  await vi.waitFor(() => expect(view.isComplete).toBe(true));
  const hostOf = async (name: string) => (await cluster.get(ServiceEntry, { name, namespace: "istio-system" }))?.spec?.hosts?.[0];
  return { cluster, applier, hostOf };
}

describe("drift", () => {
  it("is put back: what somebody edits, and what somebody deletes", async () => {
    const { cluster, applier, hostOf } = await started();
    applier.put(entry("one", "one.global"));
    await vi.waitFor(async () => expect(await hostOf("one")).toBe("one.global"), PUT_BACK);
    await cluster.apply(entry("one", "edited.example"), { fieldManager: "kubectl-edit", force: true });
    await vi.waitFor(async () => expect(await hostOf("one")).toBe("one.global"), PUT_BACK);
    await cluster.delete(refOf(entry("one", "")));
    await vi.waitFor(async () => expect(await hostOf("one")).toBe("one.global"), PUT_BACK);
  });

  it("of what is not ours is nobody's business here", async () => {
    const { cluster, applier, hostOf } = await started();
    await cluster.apply(entry("theirs", "theirs.example", {}), { fieldManager: "kubectl" });
    applier.put(entry("theirs", "ours.global"));
    applier.put(entry("one", "one.global"));
    await vi.waitFor(async () => expect(await hostOf("one")).toBe("one.global"), PUT_BACK);
    await cluster.apply(entry("theirs", "changed.example", {}), { fieldManager: "kubectl" });
    await vi.waitFor(() => expect(applier.rejections.get(resourceKeyOf(refOf(entry("theirs", ""))))?.code).toBe("Conflict"), PUT_BACK);
    expect(await hostOf("theirs")).toBe("changed.example");
  });

  it("that comes back each time is a fight: its writer and its field are named, and it slows down", async () => {
    const { cluster, applier, hostOf } = await started();
    const key = resourceKeyOf(refOf(entry("one", "")));
    applier.put(entry("one", "one.global"));
    let rounds = 0;
    // Another controller, as fast as we are.
    while (applier.rejections.get(key) === undefined && rounds < 50) {
      await vi.waitFor(async () => expect(await hostOf("one")).toBe("one.global"), PUT_BACK);
      if (applier.rejections.get(key) !== undefined) break;
      await cluster.apply(entry("one", `round-${rounds++}.example`), { fieldManager: "other-controller", force: true });
    }
    expect(rounds).toBeLessThan(12);
    const rejection = applier.rejections.get(key);
    expect(rejection).toMatchObject({ code: "Conflict" });
    expect(rejection?.message).toContain("ServiceEntry one.istio-system in a, spec.hosts, is changed again and again by other-controller");
    // We no longer answer each blow: put back at once, it would be put back dozens of times meanwhile.
    let blows = 0;
    for (const end = Date.now() + 3_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 10))) {
      if ((await hostOf("one")) !== "one.global") continue;
      await cluster.apply(entry("one", `blow-${blows++}.example`), { fieldManager: "other-controller", force: true });
    }
    expect(blows).toBeGreaterThan(0);
    expect(blows).toBeLessThan(8);
  });
});
