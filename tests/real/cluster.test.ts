import type { AnyResource } from "@isthmus/core";
import { type ReflectorEvent, runReflector } from "@isthmus/plane";
import type { Cluster, ClusterError, WatchEvent } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OwnApiServer } from "./harness/apiServer.ts";
import { anyKind, ConfigMap, clock, clusterOf, Namespace } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { installCrds } from "./harness/manifests.ts";
import { waitFor } from "./harness/waitFor.ts";

// What only a real API server shows; what the simulator shows too is in the contract.
describeReal("a real API server", (components) => {
  // Fresh: its API server crashes.
  let fleet: Fleet<"one", OwnApiServer>;
  let cluster: Cluster;
  beforeAll(async () => {
    fleet = await startFleet(components, ["one"], { fresh: true });
    cluster = clusterOf(fleet.servers.one, "one");
  });
  afterAll(() => fleet?.stop());

  it("lists more objects than fit a page, all as of one version", async () => {
    const namespace = await freshNamespace(cluster, "many");
    const names = Array.from({ length: 1_203 }, (_, i) => `item-${String(i).padStart(4, "0")}`);
    for (let start = 0; start < names.length; start += 50) {
      await Promise.all(names.slice(start, start + 50).map((name) => cluster.create(configMap(namespace, name))));
    }
    const { items, resourceVersion } = await cluster.list(ConfigMap, { namespace });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(items.every(({ metadata }) => metadata.managedFields === undefined && metadata.clusterName === "one")).toBe(true);
    await cluster.delete({ ...ref(namespace, "item-0000"), clusterName: "one" });
    const [removed] = await take(cluster, namespace, resourceVersion, 1);
    expect(removed).toMatchObject({ type: "removed", resource: { metadata: { name: "item-0000" } } });
  });

  it("keeps managedFields for those who read one object, to tell what is ours", async () => {
    const namespace = await freshNamespace(cluster, "managed");
    await cluster.apply(configMap(namespace, "a"), { fieldManager: "gloo-mesh" });
    const read = await cluster.get(ConfigMap, { namespace, name: "a" });
    expect(read?.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([["gloo-mesh", "Apply"]]);
  });

  it("refuses for good what no retry would change", async () => {
    const namespace = await freshNamespace(cluster, "refused");
    const service = (spec: unknown) => ({ apiVersion: "v1", kind: "Service", metadata: { name: "s", namespace }, spec }) as AnyResource;
    const refusals = [
      [{ ports: [{ port: 80 }], colour: "red" }, "spec.colour"],
      [{ ports: "eighty" }, "spec.ports"],
      [{ ports: [{ port: 800_000 }] }, "spec.ports[0].port"],
    ] as const;
    for (const [spec, field] of refusals) {
      const error = await errorOf(cluster.apply(service(spec), { fieldManager: "m" }));
      expect([error.code, error.details.fields?.[0]]).toEqual(["Invalid", field]);
      expect(error.message).toContain(field);
    }
  });

  it("tells who may not read, and whom it does not know", async () => {
    const stranger = clusterOf(fleet.servers.one, "one", { asStranger: true });
    const forbidden = await errorOf(stranger.list(ConfigMap));
    expect(forbidden).toMatchObject({
      code: "Forbidden",
      message: expect.stringContaining('User "stranger" cannot list resource "configmaps"'),
    });
  });

  it("serves a new kind, in the version that it has, until its CRD goes", async () => {
    const Thing = {
      ...anyKind("test.isthmus.example/v2", "Thing", "things"),
      versions: ["test.isthmus.example/v2", "test.isthmus.example/v1"],
    };
    expect(await errorOf(cluster.list(Thing))).toMatchObject({ code: "Unserved" });
    await installCrds(cluster, [thingCrd(["v1"])]);
    expect((await cluster.list(Thing)).items).toEqual([]);
    const namespace = await freshNamespace(cluster, "things");
    await cluster.apply(
      { apiVersion: "test.isthmus.example/v1", kind: "Thing", metadata: { name: "t", namespace } },
      { fieldManager: "m" },
    );
    expect((await cluster.list(Thing)).items.map(({ apiVersion }) => apiVersion)).toEqual(["test.isthmus.example/v1"]);

    const { resourceVersion } = await cluster.list(Thing);
    const stop = AbortSignal.timeout(60_000);
    const ended = drained(cluster.watch(Thing, resourceVersion, {}, stop));
    await cluster.delete({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      name: "things.test.isthmus.example",
      namespace: "",
      clusterName: "one",
    });
    await ended;
    await waitFor("the kind to be gone", async () => (await errorOf(cluster.list(Thing))).code === "Unserved");
  });

  it("is followed on across a crash of the API server, which forgets old versions", async () => {
    const namespace = await freshNamespace(cluster, "restart");
    const { resourceVersion } = await cluster.list(ConfigMap, { namespace });
    const names = new Set<string>();
    let failures = 0;
    const stop = new AbortController();
    const emit = (event: ReflectorEvent<AnyResource>) => {
      if (event.type === "unavailable") failures++;
      if (event.type === "listed") for (const { metadata } of event.items) names.add(metadata.name);
      if (event.type === "put") names.add(event.resource.metadata.name);
    };
    const followed = runReflector({ cluster, kind: ConfigMap, list: { namespace }, clock, random: Math.random, emit }, stop.signal);
    await cluster.create(configMap(namespace, "before"));
    await waitFor("the first object", () => names.has("before"));

    await fleet.servers.one.program.kill();
    expect(await errorOf(cluster.list(ConfigMap))).toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining(fleet.servers.one.url),
    });
    await waitFor("the follower to notice", () => failures > 0);
    await fleet.servers.one.restart();
    await cluster.create(configMap(namespace, "after"));
    await waitFor("the second object", () => names.has("after"), { timeoutMs: 60_000 });
    stop.abort();
    await followed;
    expect(await errorOf(take(cluster, namespace, resourceVersion, 1))).toMatchObject({ code: "Expired" });
  });
});

async function freshNamespace(cluster: Cluster, name: string): Promise<string> {
  await cluster.create({ apiVersion: Namespace.apiVersion, kind: Namespace.kind, metadata: { name } });
  return name;
}

function configMap(namespace: string, name: string): AnyResource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { key: "value" } };
}

function ref(namespace: string, name: string) {
  return { apiVersion: "v1", kind: "ConfigMap", name, namespace };
}

function errorOf(work: Promise<unknown>): Promise<ClusterError> {
  return work.then(
    () => expect.fail("it did not fail"),
    (error: ClusterError) => error,
  );
}

async function take(cluster: Cluster, namespace: string, from: string, count: number): Promise<readonly WatchEvent<AnyResource>[]> {
  const events: WatchEvent<AnyResource>[] = [];
  for await (const event of cluster.watch(ConfigMap, from, { namespace }, AbortSignal.timeout(30_000))) {
    if (events.push(event) === count) break;
  }
  return events;
}

async function drained(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

function thingCrd(versions: readonly string[]): AnyResource {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.test.isthmus.example" },
    spec: {
      group: "test.isthmus.example",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things", singular: "thing", listKind: "ThingList" },
      versions: versions.map((name, i) => ({ name, served: true, storage: i === 0, schema })),
    },
  };
}
