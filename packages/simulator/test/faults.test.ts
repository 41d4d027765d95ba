import { ConfigMap, Deployment, Secret, TrafficPolicy } from "@isthmus/api";
import { type AnyResource, type Kind, type Resource, refOf } from "@isthmus/core";
import { ClusterError, type WatchEvent } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { type SimulatedCluster, simulatedCluster, virtualClock } from "../src/index.ts";

const clock = virtualClock();

function newCluster(options: { readonly historyLimit?: number; readonly seed?: string } = {}): SimulatedCluster {
  return simulatedCluster({ name: "cluster-1", clock, kinds: [ConfigMap, TrafficPolicy], ...options });
}

function configMap(name: string, value = "1"): AnyResource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data: { value } };
}

/** All events of a watch until it ends or fails. */
async function watchToEnd(
  cluster: SimulatedCluster,
  from: string,
  kind: Kind = ConfigMap,
): Promise<{ readonly events: readonly WatchEvent<Resource>[]; readonly error: unknown }> {
  const events: WatchEvent<Resource>[] = [];
  try {
    for await (const event of cluster.watch(kind, from, {}, new AbortController().signal)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

async function latest(cluster: SimulatedCluster): Promise<string> {
  return (await cluster.list(ConfigMap)).resourceVersion;
}

const GADGET: Kind<AnyResource> = {
  apiVersion: "shop.example.com/v1",
  kind: "Gadget",
  plural: "gadgets",
  namespaced: true,
  versions: ["shop.example.com/v1"],
  parse: (input) => input as AnyResource,
};
const VERSION = { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: {} };
const DEFINITION: AnyResource = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.shop.example.com" },
  spec: { group: "shop.example.com", scope: "Namespaced", names: { kind: "Gadget", plural: "gadgets" }, versions: [VERSION] },
};

describe("a watch", () => {
  it("ends without an error when it is cut, and continues from where it was", async () => {
    const cluster = newCluster();
    const from = await latest(cluster);
    const watched = watchToEnd(cluster, from);
    await cluster.create(configMap("one"));
    await clock.settle();
    cluster.faults.cutWatches(ConfigMap);
    const { events, error } = await watched;
    expect(error).toBeUndefined();
    expect(events).toMatchObject([{ type: "put", resource: { metadata: { name: "one" } } }]);
    await cluster.create(configMap("two"));
    const resumed = watchToEnd(cluster, events[0]?.resourceVersion ?? "");
    await clock.settle();
    cluster.faults.cutWatches();
    expect((await resumed).events).toMatchObject([{ type: "put", resource: { metadata: { name: "two" } } }]);
  });

  it("of another kind is not cut", async () => {
    const cluster = newCluster();
    let hasEnded = false;
    void watchToEnd(cluster, await latest(cluster), Secret).then(() => {
      hasEnded = true;
    });
    await clock.settle();
    cluster.faults.cutWatches(ConfigMap);
    await clock.settle();
    expect(hasEnded).toBe(false);
  });

  it("cannot begin before what was compacted, while those that are up to date go on", async () => {
    const cluster = newCluster();
    const from = await latest(cluster);
    await cluster.create(configMap("one"));
    const current = watchToEnd(cluster, await latest(cluster));
    await clock.settle();
    cluster.faults.compact();
    expect((await watchToEnd(cluster, from)).error).toMatchObject({ code: "Expired" });
    await cluster.create(configMap("two"));
    await clock.settle();
    cluster.faults.cutWatches();
    expect(await current).toMatchObject({ events: [{ type: "put", resource: { metadata: { name: "two" } } }], error: undefined });
  });

  it("of a reader that is too slow expires rather than lose a change", async () => {
    const cluster = newCluster({ historyLimit: 4 });
    const events = cluster.watch(ConfigMap, await latest(cluster), {}, new AbortController().signal)[Symbol.asyncIterator]();
    await cluster.create(configMap("first"));
    expect((await events.next()).value).toMatchObject({ resource: { metadata: { name: "first" } } });
    for (let i = 0; i < 20; i++) await cluster.create(configMap(`later-${i}`));
    await expect(events.next()).rejects.toMatchObject({ code: "Expired" });
  });

  it("of a version that the API server has not reached yet is refused", async () => {
    expect((await watchToEnd(newCluster(), "1000000")).error).toMatchObject({ code: "Expired" });
  });
});

describe("faults", () => {
  it("fail the calls that match, as often as they say", async () => {
    const cluster = newCluster();
    cluster.faults.fail({
      code: "Unavailable",
      times: 2,
      retryAfterMs: 500,
      matches: ({ verb, ref }) => verb === "apply" && ref.name === "b",
    });
    const apply = (name: string) => cluster.apply(configMap(name), { fieldManager: "test" });
    await apply("a");
    await expect(apply("b")).rejects.toMatchObject({ code: "Unavailable", details: { retryAfterMs: 500 } });
    await expect(apply("b")).rejects.toBeInstanceOf(ClusterError);
    expect(await cluster.get(ConfigMap, { name: "b", namespace: "default" })).toBeUndefined();
    await apply("b");
  });

  it("may lose the answer of a write that was made", async () => {
    const cluster = newCluster();
    cluster.faults.fail({ code: "Unavailable", afterWrite: true });
    await expect(cluster.create(configMap("made"))).rejects.toMatchObject({ code: "Unavailable" });
    expect(await cluster.get(ConfigMap, { name: "made", namespace: "default" })).toBeDefined();
    await expect(cluster.create(configMap("made"))).rejects.toMatchObject({ code: "AlreadyExists" });
  });

  it("make the API server unreachable until they are healed", async () => {
    const cluster = newCluster();
    const watched = watchToEnd(cluster, await latest(cluster));
    await clock.settle();
    cluster.faults.reachable(false);
    expect((await watched).error).toMatchObject({ code: "Unavailable" });
    await expect(cluster.list(ConfigMap)).rejects.toMatchObject({ code: "Unavailable" });
    cluster.faults.heal();
    expect((await cluster.list(ConfigMap)).items).toEqual([]);
  });

  it("delay answers and events", async () => {
    const cluster = newCluster();
    const from = await latest(cluster);
    cluster.faults.delay(100);
    let seen: unknown;
    const created = cluster.create(configMap("slow")).then((resource) => {
      seen = resource.metadata.name;
    });
    await clock.advance(99);
    expect(seen).toBeUndefined();
    await clock.advance(1);
    await created;
    expect(seen).toBe("slow");
    const abort = new AbortController();
    const event = cluster.watch(ConfigMap, from, {}, abort.signal)[Symbol.asyncIterator]().next();
    await clock.advance(200);
    expect((await event).value).toMatchObject({ type: "put" });
  });
});

describe("kinds", () => {
  it("that vanish end their watches and come back with their objects", async () => {
    const cluster = newCluster();
    const policy = { apiVersion: TrafficPolicy.apiVersion, kind: "TrafficPolicy", metadata: { name: "slow", namespace: "default" } };
    await cluster.create(policy);
    const watched = watchToEnd(cluster, await latest(cluster), TrafficPolicy);
    await clock.settle();
    cluster.unserve(TrafficPolicy);
    expect(await watched).toEqual({ events: [], error: undefined });
    await expect(cluster.list(TrafficPolicy)).rejects.toMatchObject({ code: "Unserved" });
    expect((await cluster.servedKinds()).some(({ kind }) => kind === "TrafficPolicy")).toBe(false);
    cluster.serve(TrafficPolicy);
    expect((await cluster.list(TrafficPolicy)).items).toHaveLength(1);
  });

  it("come and go with their definitions, and their objects with them", async () => {
    const cluster = newCluster();
    await expect(cluster.list(GADGET)).rejects.toMatchObject({ code: "Unserved" });
    const created = await cluster.create(DEFINITION);
    expect(created["status"]).toMatchObject({ conditions: [{ type: "NamesAccepted" }, { type: "Established", status: "True" }] });
    const { resourceVersion } = await cluster.list(GADGET);
    await cluster.create({ apiVersion: GADGET.apiVersion, kind: "Gadget", metadata: { name: "lamp", namespace: "default" } });
    const watched = watchToEnd(cluster, resourceVersion, GADGET);
    await clock.settle();
    await cluster.delete(refOf(DEFINITION));
    const { events, error } = await watched;
    expect(error).toBeUndefined();
    expect(events.map(({ type }) => type)).toEqual(["put", "removed"]);
    await expect(cluster.list(GADGET)).rejects.toMatchObject({ code: "Unserved" });
    await cluster.create(DEFINITION);
    expect((await cluster.list(GADGET)).items).toEqual([]);
  });

  it("are there again, or no more, with their definitions when etcd is restored", async () => {
    const cluster = newCluster();
    const without = cluster.image();
    await cluster.create(DEFINITION);
    await cluster.create({ apiVersion: GADGET.apiVersion, kind: "Gadget", metadata: { name: "lamp", namespace: "default" } });
    const withLamp = cluster.image();
    await cluster.delete(refOf(DEFINITION));
    cluster.faults.restore(withLamp, 1_000);
    expect((await cluster.list(GADGET)).items.map(({ metadata }) => metadata.name)).toEqual(["lamp"]);
    cluster.faults.restore(without, 2_000);
    await expect(cluster.list(GADGET)).rejects.toMatchObject({ code: "Unserved" });
  });

  it("are listed as they are once etcd is restored, whatever was to be listed before", async () => {
    const cluster = newCluster();
    const before = cluster.image();
    await cluster.create(configMap("seen"));
    const later = cluster.revision;
    await cluster.create(configMap("last"));
    cluster.faults.staleLists(later, 1);
    cluster.faults.restore(before, 0);
    const listed = await cluster.list(ConfigMap);
    expect(listed).toMatchObject({ items: [], resourceVersion: String(cluster.revision) });
  });

  it("check what is written, and not what is loaded", async () => {
    const cluster = simulatedCluster({ name: "cluster-1", clock, kinds: [Deployment] });
    const bad = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "bad", namespace: "default" }, spec: { replicas: "three" } };
    await expect(cluster.create(bad as Resource)).rejects.toMatchObject({ code: "Invalid", details: { fields: ["spec.replicas"] } });
    cluster.load([bad as Resource]);
    const { items, malformed } = await cluster.list(Deployment);
    expect(items).toEqual([]);
    expect(malformed).toMatchObject([{ ref: { name: "bad", clusterName: "cluster-1" } }]);
  });
});

describe("two clusters of one name", () => {
  it("are distinguished by the UID of kube-system", async () => {
    const uidOf = async (cluster: SimulatedCluster) => {
      const [system] = cluster.objects().filter(({ kind, metadata }) => kind === "Namespace" && metadata.name === "kube-system");
      return system?.metadata.uid;
    };
    expect(await uidOf(newCluster())).toBe(await uidOf(newCluster()));
    expect(await uidOf(newCluster())).not.toBe(await uidOf(newCluster({ seed: "rebuilt" })));
  });
});
