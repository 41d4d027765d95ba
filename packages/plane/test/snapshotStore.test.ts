import { kindOf, Service } from "@isthmus/api";
import { firstSeenOf, kindKeyOf, type Resource, type ResourceRef, refOf, snapshotOf } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { type SnapshotStore, snapshotStore } from "../src/snapshots/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";

const agent = { instance: "agent-0", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid", features: [] };
const SERVICES = kindKeyOf(Service);

function service(name: string, clusterName: string, port = 80): Resource {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName }, spec: { ports: [{ port }] } } as Resource;
}

function keys(...resources: Resource[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map([[SERVICES, new Set(resources.map(({ metadata }) => `${metadata.name}.${metadata.namespace}.${metadata.clusterName}`))]]);
}

function started(): { store: SnapshotStore; log: ReturnType<typeof recordingLog>; names: () => string[] } {
  const log = recordingLog();
  const store = snapshotStore({ kindOf, isRegistered: () => true, log, changed: () => undefined });
  return { store, log, names: () => [...store.snapshot.of(Service)].map(({ metadata }) => `${metadata.name}@${metadata.clusterName}`) };
}

describe("snapshot store", () => {
  it("shows nothing of a cluster before everything in it is known", () => {
    const { store, names } = started();
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    expect(names()).toEqual([]);
    expect(store.clusters.get("a")?.phase).toBe("unknown");

    store.synced("a", keys(service("cart", "a")));
    expect(names()).toEqual(["cart@a"]);
    expect(store.clusters.get("a")?.phase).toBe("synced");
  });

  it("does not count as received from the agent what another replica knew, until the agent has reported it here", () => {
    const { store, names } = started();
    const phase = () => store.clusters.get("a")?.phase;
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", keys(service("cart", "a")));
    expect(store.remembers("a")).toBe(true);
    store.disconnected("a");
    expect([store.remembers("a"), phase()]).toEqual([true, "stale"]);
    store.followed("a", { phase: "synced", connected: true }, snapshotOf([service("shop", "a")]));
    expect([names(), phase(), store.remembers("a")]).toEqual([["shop@a"], "synced", false]);
    store.connected("a", agent);
    expect([names(), phase(), store.remembers("a")]).toEqual([["shop@a"], "stale", false]);
    store.synced("a", keys(service("shop", "a")));
    expect([phase(), store.remembers("a")]).toEqual(["synced", true]);
  });

  it("starts gathering again when an agent was cut off before it had said everything", () => {
    const { store, names } = started();
    store.connected("a", agent);
    store.observed("a", { put: [service("gone-meanwhile", "a")], remove: [] });
    store.disconnected("a");
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", keys(service("cart", "a")));
    expect(names()).toEqual(["cart@a"]);
  });

  it("leaves out what is read elsewhere already, as users' policies of a management cluster that is registered as well", () => {
    const isReadElsewhere = (name: string, kindKey: string) => name === "management" && kindKey === SERVICES;
    const store = snapshotStore({ kindOf, isReadElsewhere, isRegistered: () => true, log: recordingLog(), changed: () => undefined });
    for (const name of ["a", "management"]) {
      store.connected(name, agent);
      store.observed(name, { put: [service("cart", name)], remove: [] });
      store.synced(name, keys(service("cart", name)));
    }
    expect([...store.snapshot.of(Service)].map(({ metadata }) => metadata.clusterName)).toEqual(["a"]);
  });

  it("leaves out what agents do not report, whichever way it comes", () => {
    const isReported = (kindKey: string) => kindKey !== SERVICES;
    const store = snapshotStore({ kindOf, isReported, isRegistered: () => true, log: recordingLog(), changed: () => undefined });
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", keys(service("cart", "a")));
    expect(store.snapshot.collections().size).toBe(0);
  });

  it("keeps when objects were first seen: those of one report together, what is new later, what was deleted again", () => {
    let now = 1_000;
    const ages = { kinds: new Set([SERVICES]), now: () => now, areKept: false };
    const store = snapshotStore({ kindOf, ages, isRegistered: () => true, log: recordingLog(), changed: () => undefined });
    const seen = () => Object.fromEntries([...store.snapshot.of(Service)].map((object) => [object.metadata.name, firstSeenOf(object)]));
    const at = (ms: number) => new Date(ms).toISOString();
    const say = (...objects: Resource[]) => store.observed("a", { put: objects, remove: [] });
    store.connected("a", agent);
    for (const name of ["cart", "pay"]) {
      say(service(name, "a"));
      now += 5;
    }
    store.synced("a", keys(service("cart", "a"), service("pay", "a")));
    expect(seen()).toEqual({ cart: at(1_000), pay: at(1_000) });

    now = 2_000;
    say(service("cart", "a", 81), service("new", "a"));
    expect(seen()).toEqual({ cart: at(1_000), pay: at(1_000), new: at(2_000) });
    store.observed("a", { put: [], remove: [refOf(service("pay", "a"))] });
    now = 3_000;
    say(service("pay", "a"));
    expect(seen()["pay"]).toBe(at(3_000));

    // It was offline, and says everything again.
    store.disconnected("a");
    now = 4_000;
    store.connected("a", agent);
    now = 5_000;
    say(service("cart", "a", 81), service("new", "a"), service("pay", "a"), service("newest", "a"));
    store.synced("a", keys(...["cart", "new", "pay", "newest"].map((name) => service(name, "a"))));
    expect(seen()).toEqual({ cart: at(1_000), new: at(2_000), newest: at(4_000), pay: at(3_000) });
    store.forget("a");
    expect(seen()).toEqual({});
  });

  it("keeps everything of a cluster whose agent is offline", () => {
    const { store, names } = started();
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", keys(service("cart", "a")));
    store.disconnected("a");
    expect(names()).toEqual(["cart@a"]);
    expect(store.clusters.get("a")?.phase).toBe("stale");

    store.connected("a", agent);
    expect(names()).toEqual(["cart@a"]);
  });

  it("removes what vanished while the agent was offline, of the kinds that it names, and of its cluster alone", () => {
    const { store, names } = started();
    for (const cluster of ["a", "b"]) {
      store.connected(cluster, agent);
      store.observed(cluster, { put: [service("cart", cluster), service("pay", cluster)], remove: [] });
      store.synced(cluster, keys(service("cart", cluster), service("pay", cluster)));
    }
    store.disconnected("a");
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", new Map());
    expect(names()).toHaveLength(4);
    store.synced("a", keys(service("cart", "a")));
    expect(names()).toEqual(["cart@a", "cart@b", "pay@b"]);
  });

  it("keeps the identity of objects that a reconnecting agent says again", () => {
    const { store } = started();
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", keys(service("cart", "a")));
    const before = store.snapshotIn("a");
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    expect(store.snapshotIn("a")).toBe(before);
    store.observed("a", { put: [service("cart", "a", 81)], remove: [] });
    expect(store.snapshotIn("a")).not.toBe(before);
  });

  it("leaves out a malformed object, says why once, and keeps the last good form", () => {
    const { store, log, names } = started();
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", keys(service("cart", "a")));
    const bad = { ...service("cart", "a"), spec: { ports: "none" } } as Resource;
    store.observed("a", { put: [bad, service("pay", "a")], remove: [] });
    store.observed("a", { put: [bad], remove: [] });
    expect(names()).toEqual(["cart@a", "pay@a"]);
    expect(log.warnings).toHaveLength(1);
    expect(log.warnings[0]).toContain("Service shop/cart in a: spec.ports: must be an array");
  });

  it("ignores kinds it does not know", () => {
    const { store } = started();
    store.connected("a", agent);
    store.synced("a", new Map());
    const before = store.snapshotIn("a");
    store.observed("a", { put: [{ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w", clusterName: "a" } }], remove: [] });
    expect(store.snapshotIn("a")).toBe(before);
  });

  it("forgets a cluster that is no longer registered", () => {
    const { store, names } = started();
    for (const cluster of ["a", "b"]) {
      store.connected(cluster, agent);
      store.observed(cluster, { put: [service("cart", cluster)], remove: [] });
      store.synced(cluster, keys(service("cart", cluster)));
    }
    store.forget("a");
    expect(names()).toEqual(["cart@b"]);
    expect(store.clusters.has("a")).toBe(false);
  });

  it("removes what an agent says is gone", () => {
    const { store, names } = started();
    store.connected("a", agent);
    store.observed("a", { put: [service("cart", "a")], remove: [] });
    store.synced("a", keys(service("cart", "a")));
    const gone: ResourceRef = refOf(service("cart", "a"));
    store.observed("a", { put: [], remove: [gone] });
    expect(names()).toEqual([]);
  });
});
