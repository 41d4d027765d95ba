import { randomUUID } from "node:crypto";
import { KubernetesCluster, TrafficPolicy, VirtualService } from "@isthmus/api";
import { type AnyResource, type Kind, refOf } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { lead } from "./lead.ts";
import { clock, eventually, meanwhile, quiet } from "./virtualTime.ts";

interface KubernetesEvent extends AnyResource {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly namespace: string; readonly uid: string };
}

const Event: Kind<KubernetesEvent> = {
  apiVersion: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
  versions: ["v1"],
  parse: (input) => input as KubernetesEvent,
};

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
});
afterEach(() => fleet.stop());

const cluster = (name: string) => fleet.clusters[name] as NonNullable<(typeof fleet.clusters)[string]>;

/** In force in every namespace, as it does not say otherwise: BP0001. */
const everywhere = (name = "everywhere"): AnyResource => ({
  apiVersion: "networking.istio.io/v1",
  kind: VirtualService.kind,
  metadata: { name, namespace: "bookinfo" },
  spec: { hosts: ["reviews"], http: [{ route: [{ destination: { host: "reviews" } }] }] },
});

const selectsNothing: AnyResource = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: TrafficPolicy.kind,
  metadata: { name: "nobody", namespace: "bookinfo" },
  spec: {
    destinationSelector: [{ kubeServiceRefs: { services: [{ name: "reveiws", namespace: "bookinfo", clusterName: "cluster-1" }] } }],
    policy: { requestTimeout: "5s" },
  },
};

async function events(reason: string) {
  const { items } = await fleet.management.list(Event);
  return items
    .filter((event) => event.reason === reason)
    .map(({ type, message, involvedObject: { kind, namespace, name } }) => ({ type, message, on: `${kind} ${namespace}/${name}` }));
}

/** A server with the agents of both clusters, which has looked at all of it. */
async function settled(settings: Parameters<Fleet["startServer"]>[1] = {}): Promise<void> {
  fleet.startServer("server", settings);
  for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
  await eventually(async () => expect((await meanwhile(fleet.server().insights()))?.unknown).toEqual([]));
  await quiet(130_000);
}

describe("Events", () => {
  it("say what begins and ends: on the object in the management cluster, else on the KubernetesCluster", async () => {
    await settled();
    await cluster("cluster-1").create(everywhere());
    await fleet.management.create(selectsNothing);
    const [began] = await eventually(async () => {
      const found = await events("BP0001");
      expect(found).toHaveLength(1);
      return found;
    });
    expect(began).toMatchObject({ type: "Warning", on: "KubernetesCluster gloo-mesh/cluster-1" });
    expect(began?.message).toMatch(/^VirtualService bookinfo\/everywhere in cluster-1: /);
    const onPolicy = await eventually(async () => {
      const { items } = await fleet.management.list(Event, { namespace: "bookinfo" });
      expect(items).toHaveLength(1);
      return items[0];
    });
    const policy = await fleet.management.get(TrafficPolicy, { name: "nobody", namespace: "bookinfo" });
    expect(onPolicy).toMatchObject({
      reason: "RTE1002",
      involvedObject: { kind: "TrafficPolicy", name: "nobody", uid: policy?.metadata.uid },
    });
    await cluster("cluster-1").delete(refOf({ ...everywhere(), metadata: { ...everywhere().metadata, clusterName: "cluster-1" } }));
    await eventually(async () => expect(await events("BP0001")).toHaveLength(2));
    expect((await events("BP0001")).map(({ type }) => type).sort()).toEqual(["Normal", "Warning"]);
  });

  it("say nothing of what was there when a server started, began to lead, or found it in the store", async () => {
    const store = memoryStore({ clock, id: randomUUID });
    const leads = lead();
    await cluster("cluster-1").create(everywhere());
    for (const name of ["a", "b"]) fleet.startServer(name, { store, leadership: leads.of(name) });
    for (const name of ["cluster-1", "cluster-2"]) {
      fleet.route(name, "a");
      fleet.startAgent(name);
    }
    await eventually(async () => expect((await meanwhile(fleet.server("a").insights()))?.unknown).toEqual([]));
    await quiet(130_000);
    leads.pass("b");
    await quiet(130_000);
    expect((await fleet.management.list(Event)).items).toEqual([]);
    // The next one that begins is said by the one that leads.
    await cluster("cluster-1").create(everywhere("another"));
    await eventually(async () => expect(await events("BP0001")).toHaveLength(1));
  });

  it("say what begins right after the first look of a server that shares insights, and nobody led before", async () => {
    fleet.startServer("server", { store: memoryStore({ clock, id: randomUUID }) });
    for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
    await eventually(async () => expect((await meanwhile(fleet.server().insights()))?.unknown).toEqual([]));
    // Its first look, and what it found in the store.
    await quiet(1_500);
    await fleet.management.create(selectsNothing);
    await eventually(async () => expect(await events("RTE1002")).toHaveLength(1));
  });

  it("are few, however much comes and goes in one cluster, and leave others theirs", async () => {
    await settled();
    for (let i = 0; i < 40; i++) await cluster("cluster-1").create(everywhere(`flood-${i}`));
    await quiet(5_000);
    // Of all codes: they take each other's hosts, too.
    expect((await fleet.management.list(Event)).items).toHaveLength(10);
    await cluster("cluster-2").create(everywhere("other"));
    await eventually(async () => expect((await events("BP0001")).filter(({ on }) => on.endsWith("cluster-2"))).toHaveLength(1));
    // One that comes and goes all the time is said once.
    await quiet(900_000);
    const before = (await events("BP0001")).length;
    for (let i = 0; i < 5; i++) {
      await cluster("cluster-2").create(everywhere("flapping"));
      await quiet(3_000);
      await cluster("cluster-2").delete(
        refOf({ ...everywhere("flapping"), metadata: { ...everywhere("flapping").metadata, clusterName: "cluster-2" } }),
      );
      await quiet(3_000);
    }
    expect(await events("BP0001")).toHaveLength(before + 2);
  });

  it("are few of what is discovered in a cluster as well, and of a namespace: policies of others have theirs", async () => {
    await settled();
    const flood = (i: number): AnyResource => ({ ...selectsNothing, metadata: { name: `nobody-${i}`, namespace: "bookinfo" } });
    for (let i = 0; i < 30; i++) await fleet.management.create(flood(i));
    await quiet(5_000);
    expect((await fleet.management.list(Event, { namespace: "bookinfo" })).items).toHaveLength(10);
    await fleet.management.create({ ...selectsNothing, metadata: { name: "theirs", namespace: "gloo-mesh" } });
    await eventually(async () => {
      const { items } = await fleet.management.list(Event, { namespace: "gloo-mesh" });
      expect(items.filter(({ involvedObject }) => involvedObject.name === "theirs")).toHaveLength(1);
    });
    // A label of a user does not charge another's.
    const labels = { "cluster.discovery.mesh.gloo.solo.io": "cluster-1" };
    for (let i = 30; i < 60; i++) await fleet.management.create({ ...flood(i), metadata: { ...flood(i).metadata, labels } });
    await quiet(5_000);
    await cluster("cluster-1").create(everywhere());
    await eventually(async () => expect(await events("BP0001")).toHaveLength(1));
  });

  it("are one line of bounded text", async () => {
    await settled();
    const { spec, ...others } = selectsNothing as AnyResource & { readonly spec: Record<string, unknown> };
    const services = [{ name: "reviews", namespace: "bookinfo", clusterName: `\u001b[31m\n${"x".repeat(3_000)}` }];
    await fleet.management.create({
      ...others,
      spec: { ...spec, destinationSelector: [{ kubeServiceRefs: { services } }] },
    } as AnyResource);
    await quiet(5_000);
    const { items } = await fleet.management.list(Event);
    expect(items.length).toBeGreaterThan(0);
    for (const { message } of items) {
      expect(message.length).toBeLessThanOrEqual(1_000);
      expect(message).toMatch(/^[^\p{C}]*$/u);
    }
  });

  it("are given up in a cluster that does not allow them, and nothing else is", async () => {
    await settled({
      over: (management) => ({
        ...management,
        create(resource, signal) {
          if (resource.kind === Event.kind) return Promise.reject(new ClusterError("Forbidden", "events is forbidden"));
          return management.create(resource, signal);
        },
      }),
    });
    for (let i = 0; i < 3; i++) await cluster("cluster-1").create(everywhere(`v-${i}`));
    await quiet(20_000);
    const warnings = fleet.log.warnings.filter((message) => message.includes("cannot write Events about insights"));
    expect(warnings).toHaveLength(1);
    const found = [...((await meanwhile(fleet.server().insights()))?.objects ?? [])];
    expect(found.filter(({ object }) => object.name.startsWith("v-"))).toHaveLength(3);
    expect(await fleet.management.get(KubernetesCluster, { name: "cluster-1", namespace: "gloo-mesh" })).toBeDefined();
  });
});
