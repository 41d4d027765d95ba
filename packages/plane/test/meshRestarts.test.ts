import type { AnyResource } from "@isthmus/core";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type MeshRestarts, meshRestarts } from "../src/agent/trust/meshRestarts.ts";
import type { RestartablePod } from "../src/agent/trust/podRestarts.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock } from "./virtualTime.ts";

let cluster: SimulatedCluster;
let restarts: MeshRestarts;
let ending: AbortController;

beforeEach(() => {
  ending = new AbortController();
  cluster = simulatedCluster({ name: "east", clock });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
  restarts = restartsOf();
});
afterEach(() => ending.abort());

function restartsOf(byRollout = false): MeshRestarts {
  return meshRestarts({ cluster, byRollout, clock, log: recordingLog() }, ending.signal);
}

function load(name: string): void {
  cluster.load([{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop" }, status: { phase: "Running" } } as AnyResource]);
}

const pod = (name: string, of: Partial<RestartablePod> = {}): RestartablePod => ({
  ...{ namespace: "shop", name, uid: "", createdAt: 0, isReady: true, isTerminating: false },
  owner: { kind: "Deployment", name: name.split("-")[0] ?? "" },
  ...of,
});

const names = () =>
  cluster
    .objects()
    .filter(({ kind }) => kind === "Pod")
    .map(({ metadata }) => metadata.name);
const next = (all: readonly RestartablePod[], outdated: readonly RestartablePod[], leave: readonly string[] = []) =>
  restarts.next("istiod", { all, outdated, leave, isControlPlane: false, since: SINCE });

const SINCE = Date.parse("2026-01-01T00:00:10Z");
const TEXT = "2026-01-01T00:00:10.000Z";

describe("evictions", () => {
  test("give callers the time to learn of a pod before the next one of its workload goes", async () => {
    for (const name of ["cart-1", "cart-2", "web-1"]) load(name);
    const [first, second, web] = [pod("cart-1"), pod("cart-2"), pod("web-1")];
    // Whether one of them was evicted a moment ago is not known after a start.
    expect(await next([first, second, web], [first, second, web])).toMatch(/shop\/cart is complete: .* 15 s/);
    await clock.advance(15_000);
    expect(await next([first, second, web], [first, second, web])).toBe("workload shop/cart is being restarted");
    expect(names()).toEqual(["cart-2", "web-1"]);
    load("cart-3");
    const fresh = pod("cart-3", { createdAt: 1 });
    expect(await next([second, { ...fresh, isReady: false }, web], [second, web])).toMatch(/lacks a ready pod/);
    const evictedAt = async () => {
      const since = clock.now();
      for (;;) {
        await next([second, fresh, web], [second, web]);
        if (!names().includes("cart-2")) return clock.now() - since;
        await clock.advance(2_000);
      }
    };
    expect(await evictedAt()).toBeGreaterThanOrEqual(15_000);
    // Another workload is not waited for so long: nobody who calls it has to learn anything.
    load("cart-4");
    expect(await next([fresh, pod("cart-4", { createdAt: 1 }), web], [web])).toBe("workload shop/web is being restarted");
    expect(names()).toEqual(["cart-3", "cart-4"]);
  });

  test("are tried again when an API server refuses them for another reason, which is named", async () => {
    load("web-1");
    cluster.faults.fail({
      code: "Invalid",
      message: 'admission webhook "guard" denied the request',
      matches: ({ verb }) => verb === "evict",
    });
    expect(await next([pod("web-1")], [pod("web-1")])).toMatch(/cannot be evicted: admission webhook "guard" denied the request/);
    expect(await next([pod("web-1")], [pod("web-1")])).toBe("workload shop/web is being restarted");
  });

  test("do not wait for a workload that is left out, however ill it is", async () => {
    for (const name of ["cart-1", "cart-2", "web-1"]) load(name);
    const all = [pod("cart-1"), pod("cart-2"), pod("web-1")];
    await next(all, all);
    await clock.advance(15_000);
    await next(all, all);
    const ill = [pod("cart-2", { isReady: false }), pod("web-1")];
    expect(await next(ill, ill.slice(1))).toMatch(/shop\/cart lacks a ready pod/);
    await clock.advance(600_000);
    expect(await next(ill, ill.slice(1))).toMatch(/meshctl cert rotate meshIntermediate\/istiod --leave shop\/cart$/);
    expect(await next(ill.slice(1), ill.slice(1), ["shop/cart"])).toBe("workload shop/web is being restarted");
  });
});

describe("rollouts", () => {
  const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop" };
  const web = pod("web-1");

  async function deploy(spec: object = {}, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    const template = {
      metadata: { labels: { app: "web" }, annotations },
      spec: { containers: [{ name: "web", image: "example.com/web:1" }] },
    };
    const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "shop" } };
    await cluster.create({ ...object, spec: { selector: { matchLabels: { app: "web" } }, template, ...spec } } as AnyResource);
    load("web-1");
  }

  function annotationsNow(): unknown {
    const { template } = (cluster.object(DEPLOYMENT) as AnyResource & { spec: { template: { metadata: { annotations?: object } } } }).spec;
    return template.metadata.annotations;
  }

  test("are ordered once, by one annotation of the pod template, and evict nothing", async () => {
    restarts = restartsOf(true);
    await deploy({}, { theirs: "kept" });
    const text = "workload shop/web is being restarted by a rollout";
    expect(await next([web], [web])).toBe(text);
    expect(annotationsNow()).toEqual({ theirs: "kept", "isthmus.mesh/certificates-since": TEXT });
    const { revision } = cluster;
    await clock.advance(60_000);
    expect(await next([web], [web])).toBe(text);
    // Nor by an agent that starts again.
    restarts = restartsOf(true);
    expect(await next([web], [web])).toBe(text);
    expect(cluster.revision).toBe(revision);
    expect(names()).toEqual(["web-1"]);
    await clock.advance(600_000);
    expect(await next([web], [web])).toContain("--leave shop/web");
  });

  test("have the next workload wait for the pods that it is to have, not for those of a surge", async () => {
    restarts = restartsOf(true);
    await deploy({ replicas: 1 });
    const [fresh, other] = [pod("web-2", { createdAt: 1 }), pod("zed-1")];
    expect(await next([web, other], [web, other])).toContain("shop/web is being restarted");
    expect(await next([web, { ...fresh, isReady: false }, other], [web, other])).toContain("shop/web lacks a ready pod");
    // Both are ready until the controller deletes the old one. An agent that starts now has seen no other number.
    for (const agent of [restarts, restartsOf(true)]) {
      restarts = agent;
      expect(await next([web, fresh, other], [web, other])).toContain("shop/web is being restarted");
      expect(await next([{ ...web, isReady: false, isTerminating: true }, fresh, other], [web, other])).toContain(
        "shop/web lacks a ready pod",
      );
      load("zed-1");
      expect(await next([fresh, other], [other])).toContain("shop/zed is being restarted");
    }
    // A controller that has deleted its old pod first has none yet.
    restarts = restartsOf(true);
    expect(await next([web, other], [web, other])).toContain("shop/web is being restarted");
    expect(await next([other], [other])).toContain("shop/web lacks a ready pod");
  });

  test("leave the template to a program that restores it: pods are evicted then, and the status says why", async () => {
    restarts = restartsOf(true);
    await deploy();
    await next([web], [web]);
    const found = cluster.object(DEPLOYMENT) as AnyResource & { spec: { template: { metadata: object } } };
    const { metadata } = found.spec.template;
    const template = { ...found.spec.template, metadata: { ...metadata, annotations: {} } };
    await cluster.update({ ...found, spec: { ...found.spec, template } } as AnyResource);
    expect(await next([web], [web])).toMatch(/by evictions, .* another program has restored the pod template of Deployment shop\/web/);
    expect(annotationsNow() ?? {}).toEqual({});
    expect(names()).toEqual([]);
  });

  test.each([
    ["is paused", { paused: true }, "its rollouts are paused"],
    ["the agent may not patch", {}, "deployments.apps is forbidden"],
  ])("leave a workload to evictions that %s", async (_, spec, reason) => {
    restarts = restartsOf(true);
    await deploy(spec);
    if (!("paused" in spec)) cluster.faults.fail({ code: "Forbidden", message: reason, times: 2, matches: ({ verb }) => verb === "apply" });
    for (let round = 0; round < 2; round++) {
      expect(await next([web], [web])).toContain(`by evictions, as it cannot be rolled out: ${reason}`);
      expect(names()).toEqual([]);
      load("web-1");
    }
  });
});
