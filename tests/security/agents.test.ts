import { randomUUID } from "node:crypto";
import {
  AuthorizationPolicy,
  agentKinds,
  allKinds,
  computedKinds,
  contributedKinds,
  Destination,
  KubernetesCluster,
  onDemandKinds,
  Service,
  Settings,
  summaryKinds,
} from "@isthmus/api";
import { type AnyResource, FIRST_SEEN, firstSeenOf, keyOfResource, kindKeyOf, type Resource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { hashOf, hexOf, plus, ZERO } from "@isthmus/relay/session";
import { type MemoryStore, memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NAMESPACE, type Replica, type Replicas, replicasOf, type TestAgent, until } from "./harness/replicas.ts";

let plane: Replicas;
let replica: Replica;
let store: MemoryStore;
beforeEach(async () => {
  plane = await replicasOf();
  store = memoryStore({ clock: systemClock, id: randomUUID });
  replica = await plane.start({ store });
});
afterEach(() => plane.stop());

const service = (name: string, clusterName: string, port = 80): Resource =>
  ({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName }, spec: { ports: [{ port }] } }) as Resource;

const heldOf = (clusterName: string) => [...replica.server.store.snapshotIn(clusterName).collections().keys()].sort();

async function connected(clusterName: string, kinds?: readonly string[]): Promise<TestAgent> {
  const agent = await plane.agent({ replica, clusterName, ...(kinds === undefined ? {} : { kinds }) });
  await until(agent.isConnected, `${clusterName} is connected`);
  return agent;
}

const figure = (name: string, labels: Readonly<Record<string, string>>) =>
  replica.link
    .metrics()
    .filter((metric) => metric.name === name && Object.entries(labels).every(([label, value]) => metric.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);

describe("an agent", () => {
  test("is refused every kind but those that agents send or compute and users contribute, and the refusals are counted", async () => {
    const kinds = allKinds().map(kindKeyOf);
    const agent = await connected("evil", kinds);
    const forged = allKinds().map(
      ({ apiVersion, kind }): Resource => ({ apiVersion, kind, metadata: { name: "forged", namespace: NAMESPACE, clusterName: "evil" } }),
    );
    agent.link.observe({ put: [...forged, service("cart", "evil")], remove: [] });
    await until(() => heldOf("evil").includes(kindKeyOf(Service)), "the Service is taken");
    const refused = [Destination, KubernetesCluster, Settings].map(kindKeyOf);
    const refusals = () => figure("relay_server_objects_refused_total", { cluster: "evil", reason: "Kind" });
    const last = service("last", "evil");
    agent.link.observe({ put: [last], remove: [] });
    await until(() => [...replica.server.store.snapshotIn("evil").of(Service)].length === 3, "what came later is taken");
    // Only so many messages may be unanswered: what is sorted behind others may come later still.
    await until(() => refusals() + heldOf("evil").length >= allKinds().length, "every kind is judged");
    expect(heldOf("evil")).toEqual(
      [...agentKinds(), ...onDemandKinds(), ...computedKinds(), ...summaryKinds(), ...contributedKinds()].map(kindKeyOf).sort(),
    );
    for (const kindKey of refused) expect(heldOf("evil")).not.toContain(kindKey);
    expect(refusals()).toBe(allKinds().length - heldOf("evil").length);
    expect(plane.lines.join("\n")).toMatch(/refused 1 objects that the agent of evil sent: agents do not report this kind/);
    expect(agent.states.at(-1)).toMatch(/^connected/);
  });

  test("changes nothing for another cluster by a forged Destination, Mesh or KubernetesCluster", async () => {
    const victim = await connected("victim");
    victim.link.observe({ put: victimsMesh, remove: [] });
    plane.management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
    for (const policy of [accessPolicy, timeout]) await plane.management.create(policy);
    const wanted = () => [...(replica.server.translation?.networking.inCluster("victim") ?? [])].map(({ resource }) => resource);
    await until(() => wanted().some(({ kind }) => kind === "AuthorizationPolicy"), "the victim's AuthorizationPolicy is wanted");
    const before = JSON.stringify(wanted());
    const agent = await connected("evil");
    agent.link.observe({ put: forgeries, remove: [] });
    // An agent reports kind by kind, in the order of their names.
    const { apiVersion, kind } = AuthorizationPolicy;
    const last = { apiVersion, kind, metadata: { name: "last", namespace: "shop", clusterName: "evil" } };
    agent.link.observe({ put: [last], remove: [] });
    await until(
      () => [...(replica.server.translation?.inputs.of(AuthorizationPolicy) ?? [])].length === 1,
      "all that was forged would have been translated",
    );
    expect(JSON.stringify(wanted())).toBe(before);
  });

  test("with another UID than its certificate's is disconnected", async () => {
    const agent = await plane.agent({ replica, clusterName: "evil", helloUid: "uid-of-victim" });
    await until(() => agent.states.some((state) => state.startsWith("waiting")), "it is sent away");
    expect(agent.states.join()).toMatch(/its certificate is for the cluster with UID uid-of-evil/);
    expect(replica.isConnected("evil")).toBe(false);
    expect(replica.server.store.clusters.get("evil")).toBeUndefined();
  });

  test("does not say how old its objects are: what counts is when the plane first saw them, here, after a restart, and at another replica", async () => {
    const forged = { creationTimestamp: "1970-01-01T00:00:00Z", annotations: { [FIRST_SEEN]: "1970-01-01T00:00:00.000Z" } };
    const old = (name: string, uid = `uid-of-${name}`, port = 80) => withMetadata(service(name, "evil", port), { ...forged, uid });
    const started = new Date().toISOString();
    const agent = await connected("evil");
    agent.link.observe({ put: [old("cart"), old("stock")], remove: [] });
    await until(() => seenIn(replica).size === 2, "the Services are taken");
    const first = seenIn(replica);
    for (const moment of first.values()) expect(moment >= started).toBe(true);

    // A change keeps it, what is made again does not.
    agent.link.observe({ put: [old("cart", undefined, 8080), old("stock", "another")], remove: [] });
    await until(() => seenIn(replica).get("stock") !== first.get("stock"), "the new Service is taken");
    expect(seenIn(replica).get("cart")).toBe(first.get("cart"));
    const second = seenIn(replica);
    await until(async () => (await storedMoments()).get("stock") === second.get("stock"), "the store has it");
    expect(await storedMoments()).toEqual(second);

    // Another replica, to which the agent comes before anything was read there.
    const other = await plane.start({ store });
    await agent.stop();
    const again = await plane.agent({ replica: other, clusterName: "evil", cluster: agent.cluster });
    again.link.observe({ put: [old("cart", undefined, 8080), old("stock", "another"), old("new")], remove: [] });
    await until(() => seenIn(other).size === 3, "the other replica knows everything");
    expect(seenIn(other).get("cart")).toBe(second.get("cart"));
    expect(seenIn(other).get("stock")).toBe(second.get("stock"));
    expect((seenIn(other).get("new") ?? "") > (second.get("stock") ?? "")).toBe(true);
  });

  test("that writes to the store has no more to say there than on the wire", async () => {
    const agent = await connected("evil");
    agent.link.observe({ put: [service("cart", "evil")], remove: [] });
    await until(async () => (await storedMoments()).size === 1, "the store has the Service");
    await agent.stop();
    await forgeInStore(withMetadata(service("cart", "evil"), {}), {
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Destination",
      metadata: { name: "forged", namespace: NAMESPACE, clusterName: "evil" },
    });
    const other = await plane.start({ store });
    await until(() => other.server.store.clusters.get("evil")?.phase === "stale", "the other replica has read the cluster");
    expect([...other.server.store.snapshotIn("evil").collections().keys()]).toEqual(["/Service"]);
    const refused = other.server.metrics().find(({ name }) => name === "gloo_mesh_store_objects_refused_total");
    expect(refused).toMatchObject({ labels: { cluster: "evil", reason: "Kind" }, value: 1 });
  });

  test("is held to its quota, and what was taken stays when that is lowered, here and where it was only read", async () => {
    await quota({ objects: 3 });
    const agent = await connected("evil");
    const services = (count: number) => Array.from({ length: count }, (_, i) => service(`service-${i}`, "evil"));
    agent.link.observe({ put: services(5), remove: [] });
    await until(() => seenIn(replica).size === 3, "three Services are taken");
    await until(async () => (await condition("OverQuota")) === "True TooManyObjects", "its KubernetesCluster says so");
    expect(figure("relay_server_objects_refused_total", { cluster: "evil", reason: "Quota" })).toBe(2);

    await quota({ objects: 1 });
    agent.link.observe({ put: [service("service-0", "evil", 8080)], remove: [] });
    await until(() => portOf("service-0") === 8080, "what was taken is kept up to date");
    await agent.stop();
    const again = await plane.agent({ replica, clusterName: "evil", cluster: agent.cluster });
    again.link.observe({ put: services(5), remove: [] });
    await until(() => replica.isConnected("evil") && portOf("service-0") === 80, "it has said everything again");
    expect([...seenIn(replica).keys()]).toEqual(["service-0", "service-1", "service-2"]);
    expect(again.states.at(-1)).toMatch(/^connected/);

    // A replica that knows them from the store alone, and has no room for what the agent says of them.
    await until(async () => (await storedMoments()).size === 3, "the store has them");
    const other = await plane.start({ store });
    await until(() => seenIn(other).size === 3, "the other replica has read them");
    await quota({ objects: 1, bytes: 1 });
    await again.stop();
    const third = await plane.agent({ replica: other, clusterName: "evil", cluster: agent.cluster });
    third.link.observe({ put: services(3), remove: [] });
    await until(() => other.server.store.clusters.get("evil")?.excess?.limit === "bytes", "its objects are refused");
    await until(() => other.server.store.clusters.get("evil")?.phase === "synced", "it has said everything");
    expect([...seenIn(other).keys()]).toEqual(["service-0", "service-1", "service-2"]);
  });
});

const withMetadata = (resource: Resource, metadata: Partial<Resource["metadata"]>): Resource => ({
  ...resource,
  metadata: { ...resource.metadata, ...metadata },
});

const victimsMesh: readonly AnyResource[] = [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "istiod", namespace: "istio-system", clusterName: "victim" },
    spec: {
      selector: { matchLabels: { app: "istiod" } },
      template: { metadata: { labels: { app: "istiod" } }, spec: { containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] } },
    },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: "istio-system", clusterName: "victim" },
    data: { mesh: "trustDomain: victim" },
  },
  {
    ...withMetadata(service("cart", "victim"), { annotations: { "discovery.mesh.gloo.solo.io/enabled": "true" } }),
    spec: { selector: { app: "cart" }, ports: [{ name: "http", port: 80 }] },
  },
];

const accessPolicy = {
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "AccessPolicy",
  metadata: { name: "closed", namespace: "shop" },
  spec: {},
};
const timeout = {
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "TrafficPolicy",
  metadata: { name: "slow", namespace: "shop" },
  spec: { policy: { requestTimeout: "1s" } },
};

const discoveredIn = (kind: string, name: string, spec: object): Resource =>
  ({ apiVersion: "discovery.mesh.gloo.solo.io/v1", kind, metadata: { name, namespace: NAMESPACE, clusterName: "evil" }, spec }) as Resource;
const victimsName = { name: "istiod-istio-system-victim", namespace: NAMESPACE };
const forgeries: readonly Resource[] = [
  discoveredIn("Destination", "cart-shop-victim", {
    mesh: victimsName,
    kubeService: { ref: { name: "kube-dns", namespace: "kube-system", clusterName: "victim" }, ports: [{ port: 53, name: "dns" }] },
  }),
  discoveredIn("Mesh", victimsName.name, {
    istio: { installation: { namespace: "istio-system", cluster: "victim" }, trustDomain: "evil" },
  }),
  {
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: "victim", namespace: NAMESPACE, clusterName: "evil" },
    spec: { clusterDomain: "evil.test" },
  } as Resource,
];

/** When a replica says that it first saw each Service. */
const seenIn = ({ server }: Replica) =>
  new Map([...server.store.snapshotIn("evil").of(Service)].map((resource) => [resource.metadata.name, firstSeenOf(resource) ?? ""]));

const portOf = (name: string) =>
  replica.server.store.snapshotIn("evil").of(Service).get({ name, namespace: "shop", clusterName: "evil" })?.spec?.ports?.[0]?.port;

const PARTITION = { section: "input", clusterName: "evil" } as const;

async function storedMoments(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const page of store.load(PARTITION, "/Service")) {
    for (const { text } of page) {
      const { metadata } = JSON.parse(text) as Resource;
      found.set(metadata.name, metadata.annotations?.[FIRST_SEEN] ?? "");
    }
  }
  return found;
}

/** What somebody who can write there makes the whole of a cluster. */
async function forgeInStore(...objects: readonly Resource[]): Promise<void> {
  const fence = await store.raiseFence("input/evil", "forger");
  const head = await store.head(PARTITION);
  const put = objects.map((object) => ({ kindKey: kindKeyOf(object), key: keyOfResource(object), text: JSON.stringify(object) }));
  const kinds = Object.fromEntries(
    put.map(({ kindKey, key, text }) => [kindKey, { count: 1, digest: hexOf(plus(ZERO, hashOf(key, text))) }]),
  );
  const erase = Object.keys(kinds);
  const meta = { ...head?.meta, connected: false, phase: "stale" };
  const write = {
    partition: PARTITION,
    fence,
    base: head?.version,
    sequence: 1,
    delta: { erase, put, remove: [] },
    complete: true,
    kinds,
    meta,
  };
  expect(await store.write(write)).toBe("written");
}

async function quota(agentQuota: { readonly objects: number; readonly bytes?: number }): Promise<void> {
  const settings = { apiVersion: Settings.apiVersion, kind: "Settings", metadata: { name: "settings", namespace: NAMESPACE } };
  await plane.management.apply({ ...settings, spec: { relay: { agentQuota } } } as Resource, { fieldManager: "user" });
  await until(
    () => [...replica.server.view.snapshot.of(Settings)][0]?.spec?.relay?.agentQuota?.objects === agentQuota.objects,
    "the server knows the quota",
  );
}

async function condition(type: string): Promise<string> {
  const found = await plane.management.get(KubernetesCluster, { name: "evil", namespace: NAMESPACE });
  const { conditions = [] } = (found?.status ?? {}) as { conditions?: readonly { type: string; status: string; reason: string }[] };
  return conditions.filter((one) => one.type === type).map(({ status, reason }) => `${status} ${reason}`)[0] ?? "";
}
