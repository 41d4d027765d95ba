import { AccessPolicy, type AccessPolicySpec, AuthorizationPolicy, ConfigMap, Mesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { sampled } from "@isthmus/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoFleet, type Fleet, register, statusOf, written } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  await configured("trustDomain: cluster-2\n");
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
});
afterEach(() => fleet.stop());

const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;

/** Writes the mesh config of the callers' cluster. */
async function configured(mesh: string | undefined): Promise<void> {
  const config = await second().get(ConfigMap, { name: "istio", namespace: "istio-system" });
  if (config === undefined) throw new Error("there is no mesh config");
  await second().update({ ...config, data: mesh === undefined ? {} : { mesh } } as ConfigMap);
}

const REVIEWS = { name: "reviews", namespace: "bookinfo" };
const selected = [{ kubeServiceRefs: { services: [{ ...REVIEWS, clusterName: "cluster-1" }] } }];
const right: AccessPolicySpec = {
  sourceSelector: [{ kubeIdentityMatcher: { clusters: ["cluster-2"] } }],
  destinationSelector: selected,
  allowedMethods: ["GET"],
};

function policyOf(spec: object, metadata: object = {}): AccessPolicy {
  return {
    apiVersion: AccessPolicy.apiVersion,
    kind: AccessPolicy.kind,
    metadata: { name: "readers", namespace: "bookinfo", ...metadata },
    spec,
  };
}

/** What a user writes: parsed by nobody. */
async function edited(cluster: SimulatedCluster, spec: object): Promise<void> {
  await cluster.apply(policyOf(spec), { fieldManager: "kubectl", force: true });
}

async function rulesIn(cluster: SimulatedCluster): Promise<AuthorizationPolicy["spec"]> {
  return (await cluster.get(AuthorizationPolicy, REVIEWS))?.spec;
}

async function answered(cluster = fleet.management): Promise<AnyResource> {
  return (await statusOf({ management: cluster }, policyOf({}))) as unknown as AnyResource;
}

const RIGHT = {
  selector: { matchLabels: { app: "reviews" } },
  rules: [{ from: [{ source: { principals: ["cluster-2/ns/*"] } }], to: [{ operation: { methods: ["GET"] } }] }],
};
const NOBODY = { selector: { matchLabels: { app: "reviews" } } };

const MISTAKES: Readonly<Record<string, object>> = {
  "a cluster that is none": { ...right, sourceSelector: [{ kubeIdentityMatcher: { clusters: ["cluster-22"] } }] },
  "a path with braces": { ...right, allowedPaths: ["/{id}"] },
  "a selector of callers that is not understood": { ...right, sourceSelector: [{ kubeIdentityMatchr: { clusters: ["cluster-2"] } }] },
  "a selector of destinations that is not understood": { ...right, destinationSelector: [{ kubeServiceRef: {} }] },
  "a service that is none": {
    ...right,
    destinationSelector: [{ kubeServiceRefs: { services: [{ ...REVIEWS, clusterName: "nowhere" }] } }],
  },
  "a field that there is not": { ...right, requiredHeaders: ["x-team"] },
  "a field that can't be read": { ...right, allowedPorts: "http" },
  "a misspelt field": { sourceSelectors: right.sourceSelector, destinationSelector: selected },
};

describe("an AccessPolicy that was right", () => {
  beforeEach(async () => {
    await fleet.management.create(policyOf(right));
    await eventually(async () => expect(await rulesIn(first())).toEqual(RIGHT));
    await eventually(async () => expect(await answered()).toMatchObject({ state: "ACCEPTED", lastAccepted: { spec: right } }));
  });

  it.each(sampled(Object.entries(MISTAKES)))(
    "holds on with %s, also after a restart, until it is repaired or deleted",
    async (_, mistake) => {
      await edited(fleet.management, mistake);
      await eventually(async () => expect((await answered())["state"]).toBe("INVALID"));
      await quiet();
      expect(await rulesIn(first())).toEqual(RIGHT);
      const before = written(first());
      await fleet.stopServer();
      fleet.startServer();
      await eventually(async () => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
      await quiet();
      expect(written(first())).toEqual(before);
      await edited(fleet.management, { ...right, allowedMethods: ["HEAD"] });
      await eventually(async () => expect((await rulesIn(first()))?.rules?.[0]?.to).toEqual([{ operation: { methods: ["HEAD"] } }]));
      await fleet.management.delete({ ...policyOf({}), ...policyOf({}).metadata, namespace: "bookinfo", clusterName: "" });
      await eventually(async () => expect(await rulesIn(first())).toBeUndefined());
    },
  );

  it("denies all callers with a mistake in one that was too large to be kept, whatever was kept before", async () => {
    const services = Array.from({ length: 1_000 }, () => ({ ...REVIEWS, clusterName: "cluster-1" }));
    await edited(fleet.management, { ...right, destinationSelector: [{ kubeServiceRefs: { services } }] });
    await eventually(async () => expect((await answered())["observedGeneration"]).toBe(2));
    await edited(fleet.management, MISTAKES["a field that there is not"] ?? {});
    await eventually(async () => expect((await answered())["state"]).toBe("INVALID"));
    await quiet();
    expect(await rulesIn(first())).toEqual(NOBODY);
  });

  it("holds on when the mesh config of its callers' cluster loses its trust domain, also after a restart", async () => {
    for (const mesh of ["trustDomain: '*'\n", "trustDomain: a_b..c\n", "{}\n", "trustDomain: [\n", undefined]) {
      await configured(mesh);
      await quiet();
      expect(await rulesIn(first())).toEqual(RIGHT);
    }
    const before = written(first());
    await fleet.stopServer();
    fleet.startServer();
    await eventually(async () => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
    await quiet();
    expect(written(first())).toEqual(before);
    const mesh = await fleet.management.get(Mesh, { name: "istiod-istio-system-cluster-2", namespace: "gloo-mesh" });
    expect(mesh?.spec?.istio?.trustDomain).toBe("cluster-2");
  });
});

it.each(Object.entries(MISTAKES).slice(0, 3))("an AccessPolicy that has never been right denies all callers: %s", async (_, mistake) => {
  await fleet.management.create(policyOf(mistake));
  await eventually(async () => expect(await rulesIn(first())).toEqual(NOBODY));
  await eventually(async () => expect(JSON.stringify(await answered())).toContain("allows no callers"));
});

describe("an AccessPolicy of a workload cluster", () => {
  beforeEach(async () => {
    await first().create(policyOf(right));
    await eventually(async () => expect(await rulesIn(first())).toEqual(RIGHT));
    await eventually(async () => expect(await answered(first())).toMatchObject({ state: "ACCEPTED", lastAccepted: { spec: right } }));
  });

  it.each(Object.entries(MISTAKES).slice(1))("holds on with %s, also when server and agent start again", async (_, mistake) => {
    await edited(first(), mistake);
    await eventually(async () => expect((await answered(first()))["state"]).toBe("INVALID"));
    await quiet();
    expect(await rulesIn(first())).toEqual(RIGHT);
    const before = written(first());
    await fleet.stopServer();
    await fleet.stopAgent("cluster-1");
    fleet.startServer();
    fleet.startAgent("cluster-1");
    await eventually(async () => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
    await quiet();
    expect(written(first())).toEqual(before);
  });
});
