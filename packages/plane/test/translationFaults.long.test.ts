import { kindOf, Service, type TrafficPolicy, VirtualService } from "@isthmus/api";
import { type AnyResource, type Kind, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { memoryStore } from "@isthmus/store";
import { translatedFieldsOf } from "@isthmus/translators";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Cluster } from "../src/index.ts";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { clock, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
});
afterEach(() => fleet.stop());

class Thrown extends Error {
  override readonly name = "Thrown";
}

/** Where a bug is: only what the code of these folders reads throws. */
const TRANSLATION = /packages\/translators\/src\//;
const ANYWHERE = /packages\/\w+\/src\//;
// Who reads is found in a stack, and steps call each other deeply.
Error.stackTraceLimit = 100;

/** The object with a member of its spec that throws when it is read there: as a bug would in the step that reads it. */
function throwing<R extends Resource>(resource: R, member: string, where: RegExp): R {
  const { spec } = resource as { readonly spec?: Readonly<Record<string, unknown>> };
  const rest = Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => name !== member));
  const get = () => {
    const error = new Thrown("a step has a bug");
    if (where.test(error.stack ?? "")) throw error;
    return spec?.[member];
  };
  return { ...resource, spec: Object.defineProperty(rest, member, { enumerable: true, get }) };
}

/** A cluster whose objects of one name throw. */
function withThrowing(name: string, member: string): (cluster: Cluster) => Cluster {
  const poisoned = <R extends Resource>(resource: R): R =>
    resource.metadata.name === name ? throwing(resource, member, ANYWHERE) : resource;
  return (cluster) => ({
    ...cluster,
    async list(kind, options, signal) {
      const listed = await cluster.list(kind, options, signal);
      return { ...listed, items: listed.items.map(poisoned) };
    },
    async *watch(...asked) {
      for await (const event of cluster.watch(...asked))
        yield event.type === "put" ? { ...event, resource: poisoned(event.resource) } : event;
    },
  });
}

function faults(): number | undefined {
  return fleet
    .server()
    .metrics()
    .find(({ name }) => name === "gloo_mesh_translation_faults")?.value;
}

const bad: TrafficPolicy = { ...timeoutPolicy, metadata: { ...timeoutPolicy.metadata, name: "bad" } };
const one = "cluster-1";

async function startAll(settings: Parameters<Fleet["startServer"]>[1] = {}): Promise<void> {
  fleet.startServer("server", settings);
  for (const name of Object.keys(fleet.clusters)) fleet.startAgent(name);
  await quiet(20_000);
}

it("a policy of the management cluster on which translation throws says so, and everything else is written", async () => {
  await fleet.management.create(bookinfoMesh as AnyResource);
  await fleet.management.create(timeoutPolicy as AnyResource);
  await fleet.management.create(bad as AnyResource);
  await startAll({
    translationView: (resource) =>
      resource.metadata.name === "bad" ? throwing(translatedFieldsOf(resource), "policy", TRANSLATION) : translatedFieldsOf(resource),
  });
  expect(faults()).toBe(1);
  expect(await statusOf(fleet, bad)).toMatchObject({
    state: "FAILED",
    conditions: [{ type: "Accepted", status: "False", reason: "InternalError", message: expect.stringContaining("a step has a bug") }],
  });
  expect(await statusOf(fleet, timeoutPolicy)).toMatchObject({ state: "ACCEPTED" });
  expect(await statusOf(fleet, bookinfoMesh)).toMatchObject({ state: "ACCEPTED" });
  expect(await ours(fleet.clusters[one] as never, VirtualService)).toContain("reviews.bookinfo");
  expect(fleet.log.warnings.filter((line) => line.startsWith("internal error in translation of TrafficPolicy bookinfo/bad"))).toHaveLength(
    1,
  );
});

it("a Service that an agent reports and on which translation throws costs itself; a server that starts prunes nothing of it", async () => {
  // By its store a server knows that nothing is to be confirmed: what is not desired goes at once.
  const store = memoryStore({ clock, id: () => "store" });
  await fleet.management.create(bookinfoMesh as AnyResource);
  await fleet.management.create(timeoutPolicy as AnyResource);
  await startAll({ store });
  const before = Object.values(fleet.clusters).map(written);
  expect(before.flat().length).toBeGreaterThan(10);
  await fleet.stopServer();
  const poisoned: Kind = {
    ...Service,
    parse(input) {
      const parsed = Service.parse(input);
      return parsed.metadata.name === "reviews" && parsed.metadata.clusterName === one ? throwing(parsed, "ports", TRANSLATION) : parsed;
    },
  };
  fleet.startServer("server", {
    store,
    kindOf: (apiVersion, kind) => (kind === Service.kind ? poisoned : kindOf(apiVersion, kind)),
  });
  await quiet(60_000);
  expect(faults()).toBe(1);
  // What it was made of in both clusters stays, as it stands.
  expect(Object.values(fleet.clusters).map(written)).toEqual(before);
  const { conditions } = await statusOf(fleet, {
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: "cluster-2", namespace: "gloo-mesh" },
  });
  expect(conditions?.find(({ type }) => type === "DeletesPaused")).toMatchObject({
    reason: "SourcesUnknown",
    message: expect.stringContaining("translation fails on Service bookinfo/reviews in cluster-1"),
  });
  // Others are translated: a policy that is new comes into force.
  const next: TrafficPolicy = {
    ...timeoutPolicy,
    metadata: { ...timeoutPolicy.metadata, name: "ratings" },
    spec: {
      ...timeoutPolicy.spec,
      destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "ratings" } } }],
    },
  };
  await fleet.management.create(next as AnyResource);
  await quiet(20_000);
  expect(await statusOf(fleet, next)).toMatchObject({ state: "ACCEPTED" });
  expect(await ours(fleet.clusters[one] as never, VirtualService)).toContain("ratings.bookinfo");
});

it("an object of its cluster on which a step of the agent throws is left out, and all others are reported", async () => {
  fleet.startServer();
  fleet.startAgent("cluster-1", { over: withThrowing("reviews", "ports") });
  await quiet(20_000);
  const reported = fleet.server().store.snapshotIn("cluster-1").of(Service);
  expect(reported.size).toBeGreaterThan(3);
  expect([...reported].map((service) => resourceKeyOf(refOf(service))).some((key) => key.includes("reviews."))).toBe(false);
  expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced");
});
