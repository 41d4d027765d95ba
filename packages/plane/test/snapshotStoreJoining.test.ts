import { kindOf, Service } from "@isthmus/api";
import { type Delta, isEmpty, kindKeyOf, type Resource } from "@isthmus/core";
import { beforeEach, describe, expect, it } from "vitest";
import type { ChangeOrigin } from "../src/snapshots/joinQueue.ts";
import { type SnapshotStore, snapshotStore } from "../src/snapshots/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";

const agent = { instance: "agent-0", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid", features: [] };

function service(name: string): Resource {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName: "a" } };
}

const everything = new Map([[kindKeyOf(Service), new Set(["cart.shop.a", "pay.shop.a"])]]);

let isRegistered: boolean;
let told: (ChangeOrigin & { readonly delta: Delta })[];
let store: SnapshotStore;
beforeEach(() => start(false));

function start(areKept: boolean): void {
  isRegistered = false;
  told = [];
  const ages = { kinds: new Set<string>(), now: () => 0, areKept };
  const changed = (delta: Delta, origin: ChangeOrigin) => told.push({ ...origin, delta });
  store = snapshotStore({ kindOf, ages, isRegistered: () => isRegistered, log: recordingLog(), changed });
}

function register(): void {
  isRegistered = true;
  store.registered("a");
}

function observe(...names: readonly string[]): void {
  store.observed("a", { put: names.map(service), remove: [] });
}

function expectNothing(): void {
  expect(store.clusters.get("a")?.phase).toBe("unknown");
  expect(store.snapshotIn("a").collections().size).toBe(0);
  expect(store.snapshot.collections().size).toBe(0);
  expect(told.filter(({ delta, whole }) => !isEmpty(delta) || whole !== undefined)).toEqual([]);
}

/** All of it at once: what reads a part would take the rest for removed. */
function expectEverything(): void {
  expect(store.clusters.get("a")?.phase).toBe("synced");
  expect([...store.snapshotIn("a").of(Service)].map(({ metadata }) => metadata.name)).toEqual(["cart", "pay"]);
  const joined = told.filter(({ delta, whole }) => !isEmpty(delta) || whole !== undefined);
  expect(joined.map(({ delta, whole }) => [delta.put.length, delta.remove.length, whole === store.snapshotIn("a")])).toEqual([
    [2, 0, true],
  ]);
}

describe("an unknown cluster", () => {
  it("does not join when it is registered, but when its agent has reported everything", () => {
    store.connected("a", agent);
    observe("cart");
    register();
    expectNothing();
    observe("pay");
    store.registered("a");
    expectNothing();
    store.synced("a", everything);
    expectEverything();
  });

  it("does not join when its agent has reported everything, but when it is registered", () => {
    store.connected("a", agent);
    observe("cart", "pay");
    store.synced("a", everything);
    expectNothing();
    register();
    expectEverything();
  });

  it("does not join by what is written down of it, before its agent has reported everything", () => {
    start(true);
    isRegistered = true;
    store.connected("a", agent);
    observe("cart");
    store.earlier("a", undefined);
    expectNothing();
    observe("pay");
    store.synced("a", everything);
    expectEverything();
  });

  it("does not join before somebody has looked what is written down of it", () => {
    start(true);
    isRegistered = true;
    store.connected("a", agent);
    observe("cart", "pay");
    store.synced("a", everything);
    expectNothing();
    store.earlier("a", undefined);
    expectEverything();
  });

  it("does not join by what an agent had reported that went away, or came again, before it was registered", () => {
    store.connected("a", agent);
    observe("cart", "pay", "gone-meanwhile");
    store.synced("a", everything);
    store.disconnected("a");
    register();
    expectNothing();
    store.connected("a", agent);
    store.registered("a");
    expectNothing();
    observe("cart");
    store.registered("a");
    expectNothing();
    observe("pay");
    store.synced("a", everything);
    expectEverything();
  });

  it("does not join by what an agent had reported whose stream was replaced before it was registered", () => {
    store.connected("a", agent);
    observe("cart", "pay");
    store.synced("a", everything);
    store.connected("a", agent);
    observe("cart");
    register();
    expectNothing();
    observe("pay");
    store.synced("a", everything);
    expectEverything();
  });
});
