import { describe, expect, test } from "vitest";
import { nextRestart, type RestartablePod, unreplacedPods } from "../src/agent/trust/podRestarts.ts";

const owner = (name: string, kind = "ReplicaSet") => ({ kind, name });
const pod = (name: string, of: Partial<RestartablePod> = {}): RestartablePod => ({
  namespace: "shop",
  name,
  uid: name,
  createdAt: 0,
  isReady: true,
  isTerminating: false,
  owner: owner("cart"),
  ...of,
});

describe("the next pod that is evicted", () => {
  test("is one of the first workload, and of the same one until it is done", () => {
    const all = [pod("cart-1"), pod("cart-2"), pod("web-1", { owner: owner("web") })];
    const first = nextRestart(all, all, undefined);
    expect(first).toMatchObject({ type: "evict", pod: { name: "cart-1" }, restart: { workload: "shop/cart", pods: 2 } });
    const replaced = [pod("cart-3", { createdAt: 1 }), pod("cart-2"), pod("web-1", { owner: owner("web") })];
    const last = { workload: "shop/cart", pods: 2 };
    expect(nextRestart(replaced, replaced.slice(1), last)).toMatchObject({ type: "evict", pod: { name: "cart-2" } });
    const done = [pod("cart-3"), pod("cart-4"), pod("web-1", { owner: owner("web") })];
    expect(nextRestart(done, done.slice(2), last)).toMatchObject({ type: "evict", pod: { name: "web-1" }, restart: { pods: 1 } });
    expect(nextRestart(done, [], last)).toEqual({ type: "none" });
  });

  test.each([
    ["has not been replaced", [pod("cart-2")]],
    ["is terminating", [pod("cart-1", { isTerminating: true, isReady: false }), pod("cart-2"), pod("cart-3")]],
    ["is replaced by one that is not ready", [pod("cart-2"), pod("cart-3", { isReady: false })]],
  ])("waits as long as the one before %s, in whichever workload", (_, cart) => {
    const all = [...cart, pod("web-1", { owner: owner("web") })];
    const last = { workload: "shop/cart", pods: 2 };
    expect(nextRestart(all, [pod("cart-2"), pod("web-1", { owner: owner("web") })], last)).toEqual({ type: "wait", workload: "shop/cart" });
  });

  test("is not the last ready one of a workload that is ill already; what serves nobody goes first", () => {
    const ill = [pod("cart-1", { isReady: false }), pod("cart-2")];
    expect(nextRestart(ill, [pod("cart-2")], undefined)).toEqual({ type: "wait", workload: "shop/cart" });
    expect(nextRestart(ill, ill, undefined)).toMatchObject({ type: "evict", pod: { name: "cart-1" } });
  });

  test("is none that nothing replaces, nor one of a Job", () => {
    const { owner: _, ...bare } = pod("alone");
    const job = pod("job-1", { owner: owner("job", "Job") });
    expect(nextRestart([bare, job], [bare, job], undefined)).toEqual({ type: "none" });
    expect(unreplacedPods([bare, job, pod("cart-1")]).map(({ name }) => name)).toEqual(["alone", "job-1"]);
  });

  test("is none that is on its way out", () => {
    const leaving = pod("cart-1", { isTerminating: true, isReady: false });
    expect(nextRestart([leaving], [leaving], undefined)).toEqual({ type: "none" });
  });
});
