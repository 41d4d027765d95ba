import { allKinds, Service } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type SimulatedCluster, simulatedCluster, type VirtualClock, virtualClock } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Informer, startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";

const RELIST_MS = 600_000;

let clock: VirtualClock;
let cluster: SimulatedCluster;
let stop: AbortController;
/** When services were listed, in milliseconds since the start. */
let listed: number[];
beforeEach(async () => {
  clock = virtualClock(0);
  cluster = simulatedCluster({ name: "east", clock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
  stop = new AbortController();
  listed = [];
  await cluster.create(service("cart"));
});
afterEach(() => stop.abort(new Error("the test is over")));

const service = (name: string): Resource =>
  ({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop" }, spec: { ports: [{ port: 80 }] } }) as Resource;
const ref = (name: string) => ({ apiVersion: "v1", kind: "Service", name, namespace: "shop", clusterName: "east" });
const names = ({ snapshot }: Informer) => [...snapshot.of(Service)].map(({ metadata }) => metadata.name);

/** A cluster whose watches are accepted and tell of nothing, as behind a proxy that lost them. */
function deaf(): Cluster {
  return {
    ...cluster,
    list: (kind, options, signal) => {
      if (kind.kind === "Service") listed.push(clock.now());
      return cluster.list(kind, options, signal);
    },
    async *watch(_, resourceVersion, __, signal) {
      yield { type: "bookmark", resourceVersion };
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    },
  };
}

function view(relistMs: number | undefined, random = 0.5): Informer {
  const options = { cluster: deaf(), kinds: [Service], clock, random: () => random, log: recordingLog(), changed: () => undefined };
  return startInformer({ ...options, ...(relistMs === undefined ? {} : { relistMs }) }, stop.signal);
}

describe("a cluster that is listed again every ten minutes", () => {
  it("is seen as it is then, though no watch tells of a change", async () => {
    const seen = view(RELIST_MS);
    await clock.settle();
    await cluster.create(service("checkout"));
    await cluster.delete(ref("cart"));
    await clock.advance(RELIST_MS - 1);
    expect(names(seen)).toEqual(["cart"]);
    await clock.advance(1);
    expect(names(seen)).toEqual(["checkout"]);
    expect(listed).toEqual([0, RELIST_MS]);
  });

  it("is listed again and again, each time after the same while", async () => {
    view(RELIST_MS);
    await clock.advance(3 * RELIST_MS);
    expect(listed).toEqual([0, 1, 2, 3].map((times) => times * RELIST_MS));
  });

  it.each([
    [0, 0.9],
    [1, 1.1],
  ])("is not listed at one time with all the others: chance %d", async (random, share) => {
    view(RELIST_MS, random);
    await clock.advance(share * RELIST_MS - 1);
    expect(listed).toEqual([0]);
    await clock.advance(2);
    expect(listed).toHaveLength(2);
  });

  it("keeps what it knew when the list fails, and lists as soon as it can", async () => {
    const seen = view(RELIST_MS);
    await clock.settle();
    cluster.faults.reachable(false);
    await clock.advance(RELIST_MS + 60_000);
    expect(names(seen)).toEqual(["cart"]);
    cluster.faults.heal();
    await cluster.create(service("checkout"));
    await clock.advance(60_000);
    expect(names(seen)).toEqual(["cart", "checkout"]);
  });

  it("is not, when nobody asked for it", async () => {
    const seen = view(undefined);
    await clock.settle();
    await cluster.create(service("checkout"));
    await clock.advance(10 * RELIST_MS);
    expect(names(seen)).toEqual(["cart"]);
    expect(listed).toEqual([0]);
  });
});
