import { TrafficPolicy } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { sampled } from "@isthmus/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf, written } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await fleet.management.create(mesh(joined));
  await fleet.management.create(policy(patient));
  await eventually(async () => expect(await answered(policy({}))).toMatchObject({ state: "ACCEPTED", lastAccepted: { spec: patient } }));
  await eventually(async () => expect(await answered(mesh({}))).toMatchObject({ lastAccepted: { spec: joined } }));
  await quiet();
});
afterEach(() => fleet.stop());

const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;

const REVIEWS = { name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" };
const patient = { destinationSelector: [{ kubeServiceRefs: { services: [REVIEWS] } }], policy: { requestTimeout: "3s" } };
const joined = { ...bookinfoMesh.spec, federation: { selectors: [{}] }, globalAccessPolicy: "ENABLED" };

function policy(spec: object): AnyResource {
  const { apiVersion, kind } = TrafficPolicy;
  return { apiVersion, kind, metadata: { name: "patient", namespace: "bookinfo" }, spec };
}

function mesh(spec: object): AnyResource {
  const { apiVersion, kind, metadata } = bookinfoMesh;
  return { apiVersion, kind, metadata, spec };
}

async function answered(object: AnyResource): Promise<AnyResource> {
  return (await statusOf(fleet, object)) as unknown as AnyResource;
}

function live({ apiVersion, kind, metadata: { name, namespace = "" } }: AnyResource): AnyResource | undefined {
  return fleet.management.object({ apiVersion, kind, name, namespace });
}

async function edited(object: AnyResource): Promise<void> {
  await fleet.management.update({ ...(live(object) ?? object), spec: object["spec"] } as AnyResource);
}

/** All that we have written. */
function everything(): readonly unknown[] {
  return [first(), second()].map(written);
}

async function restartedServer(): Promise<void> {
  await fleet.stopServer();
  fleet.startServer();
  for (const name of ["cluster-1", "cluster-2"]) {
    await eventually(async () => expect(fleet.server().store.clusters.get(name)?.phase).toBe("synced"));
  }
  await quiet();
}

const MISTAKES: Readonly<Record<string, AnyResource>> = {
  "a TrafficPolicy with a field that there is not": policy({ ...patient, destinationSelectors: [] }),
  "a TrafficPolicy for a Service that is none": policy({
    ...patient,
    destinationSelector: [{ kubeServiceRefs: { services: [{ ...REVIEWS, name: "reviewz" }] } }],
  }),
  "a TrafficPolicy with a target that is none": policy({
    ...patient,
    policy: { mirror: { kubeService: { ...REVIEWS, name: "reviewz" } } },
  }),
  "a VirtualMesh with a field that there is not": mesh({ ...joined, federation: { selectors: [{}], destinationSelectors: [] } }),
  "a VirtualMesh with a mesh that is none": mesh({ ...joined, meshes: [{ name: "nobody", namespace: "gloo-mesh" }] }),
  "a VirtualMesh that leaves out a mesh beside one that is none": mesh({
    ...joined,
    meshes: [...(bookinfoMesh.spec?.meshes ?? []).slice(1), { name: "nobody", namespace: "gloo-mesh" }],
  }),
  "a VirtualMesh that is open, with half of a reference": mesh({ meshes: [{ name: "nobody" }] }),
};

describe("what was accepted", () => {
  it.each(sampled(Object.entries(MISTAKES)))(
    "stays in force under %s, also through a restart, until that is corrected",
    async (_, mistake) => {
      const before = everything();
      await edited(mistake);
      await eventually(async () => expect((await answered(mistake))["state"]).toBe("INVALID"));
      await quiet();
      expect(everything()).toEqual(before);
      expect(JSON.stringify(await answered(mistake))).toContain("stays in force");
      await restartedServer();
      expect(everything()).toEqual(before);
      // Another mistake on top, made while no server runs.
      await fleet.stopServer();
      const spec = mistake["spec"] as object;
      await edited({ ...mistake, spec: { ...spec, meshes: [{ name: "somebody" }], destinationSelectr: [] } });
      await edited({ ...mistake, spec: { ...spec, meshes: [{ name: "anybody" }], destinationSelectr: [{}] } });
      fleet.startServer();
      await restartedServer();
      expect(everything()).toEqual(before);
      await edited(mistake.kind === "TrafficPolicy" ? policy(patient) : mesh(joined));
      await eventually(async () => expect(JSON.stringify(await answered(mistake))).not.toContain("stays in force"));
      await quiet();
      expect(everything()).toEqual(before);
    },
  );

  it.each(["a TrafficPolicy with a field that there is not", "a VirtualMesh that is open, with half of a reference"])(
    "ends with the object, and is not remembered by one of its name: %s",
    async (name) => {
      const mistake = MISTAKES[name] as AnyResource;
      const { apiVersion, kind, metadata } = mistake;
      const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "", clusterName: "" };
      const before = everything();
      await edited(mistake);
      await eventually(async () => expect((await answered(mistake))["state"]).toBe("INVALID"));
      await fleet.management.delete(ref);
      await eventually(async () => expect(everything()).not.toEqual(before));
      await quiet();
      const without = everything();
      await fleet.management.create(mistake);
      await eventually(async () => expect((await answered(mistake))["state"]).toBe("INVALID"));
      await quiet();
      expect(everything()).toEqual(without);
    },
  );
});

it("is bounded: a spec that is too large is not kept, and nothing is of many edits", async () => {
  for (let i = 0; i < 5; i++) {
    await edited(policy({ ...patient, policy: { requestTimeout: `${i + 4}s` } }));
    await eventually(async () =>
      expect(await answered(policy({}))).toMatchObject({ lastAccepted: { spec: { policy: { requestTimeout: `${i + 4}s` } } } }),
    );
  }
  expect(JSON.stringify(await answered(policy({}))).match(/requestTimeout/g)).toHaveLength(1);
  const services = Array.from({ length: 1_000 }, () => REVIEWS);
  await edited(policy({ ...patient, destinationSelector: Array.from({ length: 5 }, () => ({ kubeServiceRefs: { services } })) }));
  await eventually(async () => expect(await answered(policy({}))).toMatchObject({ state: "ACCEPTED" }));
  const large = await eventually(async () => {
    const object = live(policy({}));
    const status = object?.["status"] as { readonly observedGeneration?: number; readonly lastAccepted?: { readonly generation?: number } };
    expect(status.observedGeneration).toBe(object?.metadata.generation);
    return status;
  });
  // The API server may leave empty members of what was there: they are no spec that was accepted.
  expect(large.lastAccepted?.generation).toBeUndefined();
  const before = everything();
  await edited(policy({ destinationSelectr: [] }));
  await eventually(async () => expect((await answered(policy({})))["state"]).toBe("INVALID"));
  await quiet();
  expect(JSON.stringify(await answered(policy({})))).not.toContain("stays in force");
  expect(everything()).not.toEqual(before);
});
