import {
  AccessPolicy,
  type AccessPolicySpec,
  AuthorizationPolicy,
  Destination,
  KubernetesCluster,
  Mesh,
  Settings,
  VirtualMesh,
} from "@isthmus/api";
import { type AnyResource, kindKeyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { comeAround, type Guard, type GuardedFleet, guardedFleet, guardOf, meshConfig } from "./harness/guardedFleet.ts";
import { NAMESPACE, type Replica, type Replicas, replicasOf, until } from "./harness/replicas.ts";

// The guarded cluster is cluster-1: it lets callers of cluster-2 read reviews, nobody else, and nobody call anything else.
let plane: Replicas;
let replica: Replica;
let fleet: GuardedFleet;
let guard: Guard;
let end: AbortController;
const guarded = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const callers = () => fleet.clusters["cluster-2"] as SimulatedCluster;

beforeEach(async () => {
  end = new AbortController();
  plane = await replicasOf();
  replica = await plane.start();
  fleet = await guardedFleet(plane, replica);
  for (const object of [everybodyAsks, policyOf("readers", RIGHT)]) await plane.management.create(object);
  await until(async () => (await rulesOf("reviews", "bookinfo")) === JSON.stringify(RULES), "reviews is guarded");
  await until(() => statusOf("readers")["lastAccepted"] !== undefined, "its policy is known to have been accepted");
  guard = await guardOf(guarded(), end.signal);
  // Nothing, where nobody is named.
  expect(Object.keys(guard.now())).toContain("global-access-control.istio-system");
});
afterEach(async () => {
  end.abort(new Error("the test is over"));
  await fleet.stop();
  await plane.stop();
});

const selected = [{ kubeServiceRefs: { services: [{ name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" }] } }];
const RIGHT: AccessPolicySpec = {
  sourceSelector: [{ kubeIdentityMatcher: { clusters: ["cluster-2"] } }],
  destinationSelector: selected,
  allowedMethods: ["GET"],
};
const RULES = [{ from: [{ source: { principals: ["cluster-2/ns/*"] } }], to: [{ operation: { methods: ["GET"] } }] }];
const EVERYBODY = { destinationSelector: selected };

const { apiVersion, kind } = AccessPolicy;
function policyOf(name: string, spec: object, metadata: object = {}): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace: "bookinfo", ...metadata }, spec };
}
const meshOf = (clusterName: string) => ({ name: `istiod-istio-system-${clusterName}`, namespace: NAMESPACE });
const everybodyAsks: AnyResource = {
  apiVersion: VirtualMesh.apiVersion,
  kind: VirtualMesh.kind,
  metadata: { name: "bookinfo", namespace: NAMESPACE },
  spec: { meshes: ["cluster-1", "cluster-2"].map(meshOf), globalAccessPolicy: "ENABLED" },
};

async function rulesOf(name: string, namespace: string): Promise<string> {
  return JSON.stringify((await guarded().get(AuthorizationPolicy, { name, namespace }))?.spec?.rules);
}

function statusOf(name: string): Readonly<Record<string, unknown>> {
  return statusIn(policyOf(name, {}));
}

function statusIn(resource: Resource): Readonly<Record<string, unknown>> {
  return (plane.management.object(refOf(resource))?.["status"] ?? {}) as Readonly<Record<string, unknown>>;
}

/** Until its status says so of the policy as it is now: what comes before that is another case, and denies all callers. */
async function untilInvalid(name: string, what: string): Promise<void> {
  const isSaid = () => {
    const { state, observedGeneration } = statusOf(name);
    const { generation } = plane.management.object(refOf(policyOf(name, {})))?.metadata ?? {};
    return state === "INVALID" && String(observedGeneration) === String(generation);
  };
  await until(isSaid, `${name} is INVALID with ${what}`);
}

/** Whatever came before is done, and the guard has seen it. */
async function expectNothingOpened(): Promise<void> {
  await comeAround({ plane, cluster: guarded(), service: "ratings" });
  expect(guard.changes).toEqual([]);
  expect(await rulesOf("reviews", "bookinfo")).toBe(JSON.stringify(RULES));
}

async function edited(object: AnyResource): Promise<void> {
  await plane.management.apply(object, { fieldManager: "kubectl", force: true });
}

describe("a user with rights in one namespace", () => {
  const MISTAKES: Readonly<Record<string, object>> = {
    "a misspelt selector of callers": { sourceSelectors: RIGHT.sourceSelector, destinationSelector: selected },
    "callers that are none": { ...RIGHT, sourceSelector: [{ kubeIdentityMatcher: { clusters: ["nowhere"] } }] },
    "a port that can't be read": { ...EVERYBODY, allowedPorts: "http" },
    "a destination that is none": {
      ...RIGHT,
      destinationSelector: [{ kubeServiceRefs: { services: [{ name: "reviews", namespace: "bookinfo", clusterName: "nowhere" }] } }],
    },
  };

  test("opens nothing by edits that make an AccessPolicy INVALID, nor by one that no server reads", async () => {
    for (const [what, mistake] of Object.entries(MISTAKES)) {
      await edited(policyOf("readers", mistake));
      await untilInvalid("readers", what);
      await expectNothingOpened();
    }
    // A server that never saw it right.
    await plane.start();
    await expectNothingOpened();
  });

  test("opens nothing by another AccessPolicy for the same destination that is INVALID from the beginning, nor by deleting it", async () => {
    const mistake = policyOf("mistaken", { ...EVERYBODY, allowedPaths: ["/{id}"] });
    await edited(mistake);
    await untilInvalid("mistaken", "braces");
    await expectNothingOpened();
    await plane.management.delete(refOf(mistake));
    await expectNothingOpened();
  });
});

describe("one who may edit the VirtualMesh", () => {
  const spec = everybodyAsks["spec"] as object;
  const MISTAKES: Readonly<Record<string, object>> = {
    "half of a reference": { meshes: [{ name: "istiod-istio-system-cluster-1" }], globalAccessPolicy: "DISABLED" },
    "meshes that are none": { meshes: [meshOf("nowhere")], globalAccessPolicy: "DISABLED" },
    "a misspelt field": { ...spec, globalAccessPolicy: "DISABLED", federation: { selectrs: [{}] } },
  };

  test("opens nothing by edits that make it INVALID, nor by one that no server reads", async () => {
    await until(() => statusIn(everybodyAsks)["lastAccepted"] !== undefined, "it is known to have been accepted");
    for (const [what, mistake] of Object.entries(MISTAKES)) {
      await edited({ ...everybodyAsks, spec: mistake });
      await until(() => statusIn(everybodyAsks)["state"] === "INVALID", `it is INVALID with ${what}`);
      await expectNothingOpened();
    }
    await plane.start();
    await expectNothingOpened();
  });
});

describe("an agent", () => {
  test.each([
    ["every trust domain", "trustDomain: '*'\n"],
    ["a trust domain with a wildcard in it", "trustDomain: '*.local'\n"],
    ["a trust domain that is a path of its own", "trustDomain: 'cluster-2/ns/*'\n"],
    ["no trust domain", "{}\n"],
    ["what is no YAML", "trustDomain: [\n"],
    ["a trust domain that is no text", "trustDomain: {a: b}\n"],
    ["another trust domain than before", "trustDomain: another.domain\n"],
    ["the trust domain of another mesh", "trustDomain: cluster-1\n"],
  ])("opens nothing in other clusters by a mesh config with %s", async (_, mesh) => {
    await callers().update(meshConfig("cluster-2", mesh));
    const meshIn = async () => await plane.management.get(Mesh, meshOf("cluster-2"));
    await until(async () => (await meshIn())?.spec?.istio?.trustDomainProblem !== undefined, "the Mesh tells of it");
    expect((await meshIn())?.spec?.istio?.trustDomain).toBe("cluster-2");
    await expectNothingOpened();
  });

  test("decides by a trust domain that the management cluster accepts who its own callers are, and nothing else", async () => {
    await callers().update(meshConfig("cluster-2", "trustDomain: another.domain\n"));
    const registration = await plane.management.get(KubernetesCluster, { name: "cluster-2", namespace: NAMESPACE });
    await plane.management.update({ ...registration, spec: { ...registration?.spec, trustDomain: "another.domain" } } as KubernetesCluster);
    const rules = JSON.stringify(RULES).replace("cluster-2/ns/*", "another.domain/ns/*");
    await until(async () => (await rulesOf("reviews", "bookinfo")) === rules, "its callers have another name");
    await comeAround({ plane, cluster: guarded(), service: "ratings" });
    expect(guard.changes).toEqual([expect.stringMatching(/^reviews\.bookinfo: /)]);
    expect(await rulesOf("reviews", "bookinfo")).toBe(rules);
  });

  test("opens nothing in other clusters by taking its mesh config, its control plane or its callers away", async () => {
    const own = { namespace: "istio-system", clusterName: "" };
    const config = { apiVersion: "v1", kind: "ConfigMap", name: "istio", ...own };
    await callers().delete(config);
    await expectNothingOpened();
    for (const { kind, apiVersion, metadata } of callers().objects()) {
      if (kind !== "Deployment" || metadata.namespace !== "bookinfo") continue;
      await callers().delete({ apiVersion, kind, name: metadata.name, namespace: "bookinfo", clusterName: "" });
    }
    await expectNothingOpened();
  });

  test("opens nothing in other clusters by reporting what it may not, in its own name, in theirs, or in the management cluster's", async () => {
    const evil = await plane.agent({ replica, clusterName: "evil", kinds: [AccessPolicy, VirtualMesh].map(kindKeyOf) });
    await until(evil.isConnected, "it is connected");
    for (const clusterName of ["evil", "cluster-1", "cluster-2", ""]) {
      evil.link.observe({ put: forgeries.map((one) => inCluster(one, clusterName)), remove: [] });
      if (clusterName === "evil") continue;
      const remove = [policyOf("readers", {}), everybodyAsks, guardInCluster].map((one) => refOf(inCluster(one, clusterName)));
      evil.link.observe({ put: [], remove });
    }
    const reported = (name: string): ResourceRef => refOf(policyOf(name, {}, { clusterName: "evil" }));
    const last = policyOf("last", EVERYBODY, { clusterName: "evil" });
    evil.link.observe({ put: [last], remove: [] });
    const taken = () => replica.server.store.snapshotIn("evil").of(AccessPolicy);
    await until(() => taken().get(reported("last")) !== undefined, "all that it said has come");
    await until(() => replica.server.translation?.inputs.of(AccessPolicy).get(reported("last")) !== undefined, "it is translated");
    await expectNothingOpened();
    // What was taken of it is its own.
    expect([...taken()].map(({ metadata }) => metadata.name).sort()).toEqual(["everybody", "last", "readers"]);
    await evil.stop();
    await expectNothingOpened();
  });
});

const inCluster = (object: Resource, clusterName: string): Resource => ({ ...object, metadata: { ...object.metadata, clusterName } });

const guardInCluster: Resource = {
  apiVersion: AuthorizationPolicy.apiVersion,
  kind: AuthorizationPolicy.kind,
  metadata: { name: "reviews", namespace: "bookinfo" },
};

/** What would open the guarded cluster, were it believed. */
const forgeries: readonly AnyResource[] = [
  policyOf("everybody", EVERYBODY),
  { ...policyOf("readers", EVERYBODY), status: { state: "ACCEPTED", lastAccepted: { generation: 1, spec: EVERYBODY } } },
  { ...everybodyAsks, spec: { meshes: [meshOf("cluster-1")], globalAccessPolicy: "DISABLED" } },
  // As if it had been accepted open.
  {
    ...everybodyAsks,
    spec: { meshes: [{ name: "half" }] },
    status: { lastAccepted: { generation: 1, spec: { meshes: ["cluster-1", "cluster-2"].map(meshOf), globalAccessPolicy: "DISABLED" } } },
  },
  { ...guardInCluster, spec: { selector: { matchLabels: { app: "reviews" } }, rules: [{}] } },
  {
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: NAMESPACE },
    spec: { workloadClusterResources: { targets: "ANY", virtualMeshes: "ACCEPTED" } },
  },
  {
    apiVersion: Mesh.apiVersion,
    kind: Mesh.kind,
    metadata: meshOf("cluster-2"),
    spec: { istio: { installation: { namespace: "istio-system", cluster: "cluster-2" }, trustDomain: "*" } },
  },
  {
    apiVersion: Destination.apiVersion,
    kind: Destination.kind,
    metadata: { name: "reviews-bookinfo-cluster-1", namespace: NAMESPACE },
    spec: { mesh: meshOf("evil"), kubeService: { ref: { name: "reviews", namespace: "bookinfo", clusterName: "evil" } } },
  },
];
