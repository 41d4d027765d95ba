import { allKinds, TrafficPolicy } from "@isthmus/api";
import { type AnyResource, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { type AgentLimits, RESUME_DELETES_TOPIC, systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HostileServer, hostileServer } from "./harness/hostileServer.ts";
import { NAMESPACE, until } from "./harness/replicas.ts";

const clusterName = "cluster-1";
const RBAC = "rbac.authorization.k8s.io/v1";
const DESTINATION: ResourceRef = {
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Destination",
  name: "reviews-bookinfo-cluster-1",
  namespace: NAMESPACE,
  clusterName: "",
};

let cluster: SimulatedCluster;
let server: HostileServer;
const servers: HostileServer[] = [];
beforeEach(() => {
  cluster = simulatedCluster({ name: clusterName, clock: systemClock, kinds: allKinds() });
  cluster.load([NAMESPACE, "bookinfo", "istio-system"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
});
afterEach(async () => {
  for (const one of servers.splice(0)) await one.stop();
});

async function connect(limits?: AgentLimits): Promise<void> {
  server = await hostileServer({ cluster, ...(limits === undefined ? {} : { limits }) });
  servers.push(server);
  await server.synced();
}

function route(name: string, namespace = "bookinfo", more: object = {}): AnyResource {
  const metadata = { name, namespace, clusterName, ...more };
  return { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata, spec: { hosts: [`${name}.example`] } };
}

function routes(count: number): readonly AnyResource[] {
  return Array.from({ length: count }, (_, i) => route(`route-${i}`));
}

function settings(spec: object): AnyResource {
  const metadata = { name: "settings", namespace: NAMESPACE, clusterName };
  return { apiVersion: "settings.mesh.gloo.solo.io/v1", kind: "Settings", metadata, spec };
}

const has = (resource: Resource) => cluster.object(refOf(resource)) !== undefined;
const left = () => cluster.objects().filter(({ kind }) => kind === "VirtualService").length;

describe("what a hostile server has an agent write", () => {
  const SUBJECTS = { subjects: [{ kind: "User", name: "mallory" }] };
  const FORBIDDEN: readonly (readonly [string, AnyResource])[] = [
    ["rights", { apiVersion: RBAC, kind: "ClusterRoleBinding", metadata: { name: "owned", clusterName }, ...SUBJECTS }],
    ["a Secret", { apiVersion: "v1", kind: "Secret", metadata: { name: "relay-client-tls-secret", namespace: NAMESPACE, clusterName } }],
    ["a Deployment", { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "miner", namespace: "bookinfo", clusterName } }],
    [
      "a Namespace",
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "bookinfo", clusterName, labels: { "istio-injection": "disabled" } } },
    ],
    [
      "a user's policy",
      { apiVersion: TrafficPolicy.apiVersion, kind: "TrafficPolicy", metadata: { name: "p", namespace: "bookinfo", clusterName } },
    ],
    ["a version that nobody knows", { ...route("odd"), apiVersion: "networking.istio.io/v9" }],
    ["a route in kube-system", route("dns", "kube-system")],
    ["a route in kube-public", route("info", "kube-public")],
    ["a route in kube-node-lease", route("lease", "kube-node-lease")],
    ["a route without namespace", route("nowhere", "")],
    ["a name that is a path", route("../../secrets/x")],
    ["a finalizer", route("undeletable", "bookinfo", { finalizers: ["mallory.example/stays"] })],
    ["an owner", route("owned", "bookinfo", { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "u" }] })],
  ];

  test("is of the kinds and in the namespaces that agents write, each refused object reported with the reason, and nothing else is held up", async () => {
    await connect();
    const before = cluster.objects();
    const fine = route("fine");
    await server.want([...FORBIDDEN.map(([, resource]) => resource), fine]);
    expect(has(fine)).toBe(true);
    const changed = cluster.objects().filter((now) => !before.some((old) => JSON.stringify(old) === JSON.stringify(now)));
    expect(changed.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual(["VirtualService bookinfo/fine"]);
    for (const [what, resource] of FORBIDDEN) {
      const rejection = server.rejections().get(resourceKeyOf(refOf(resource)));
      expect(rejection, what).toMatchObject({ code: "Refused", message: expect.stringContaining(resource.metadata.name) });
    }
    expect(server.rejections().size).toBe(FORBIDDEN.length);
    expect(server.lines.some((line) => line.includes("kube-system") && line.includes("--write-namespaces"))).toBe(true);
    const counts = { Kind: 6, Name: 2, Namespace: 3, Metadata: 2 };
    for (const [reason, count] of Object.entries(counts)) {
      expect(server.counted.get(`gloo_mesh_orders_refused_total ${reason}`), reason).toBe(count);
    }
    await server.want([fine]);
    expect([...server.rejections().values()]).toEqual([]);
  });

  test.each([
    ["annotations that are none", { annotations: null }],
    ["annotations that are a list", { annotations: ["a"] }],
    ["an annotation that is no text", { annotations: { a: { b: 1 } } }],
  ])("is refused with %s, and the agent continues", async (_, more) => {
    await connect();
    const [first, next] = [route("first"), route("next")];
    await server.want([first]);
    // The object is there and bears our label: then the two are compared.
    await server.want([{ ...first, metadata: { ...first.metadata, ...more } } as unknown as AnyResource, next]);
    expect([...server.rejections().values()]).toMatchObject([{ code: "Refused", message: expect.stringContaining("maps of strings") }]);
    expect(has(next)).toBe(true);
  });

  test("bears the label by which it can be recognized and undone", async () => {
    await connect();
    const foreign = route("stays-for-ever");
    await server.want([foreign], { owner: { label: "owner.mallory", value: "x" } });
    expect(has(foreign)).toBe(false);
    expect([...server.rejections().values()]).toMatchObject([{ code: "Refused", message: expect.stringContaining("owner label") }]);
  });

  test("is in the namespaces that the agent's own flag names, and what stands elsewhere is neither changed nor removed", async () => {
    await connect();
    const [inside, outside] = [route("inside"), route("outside", "istio-system")];
    await server.want([inside, outside]);
    expect([has(inside), has(outside)]).toEqual([true, true]);
    await servers.pop()?.stop();

    await connect({ writeNamespaces: new Set(["bookinfo"]) });
    const edited = { ...outside, spec: { hosts: ["mallory.example"] } };
    await server.want([{ ...inside, spec: { hosts: ["edited.example"] } }, edited]);
    expect(cluster.object(refOf(inside))).toMatchObject({ spec: { hosts: ["edited.example"] } });
    expect(cluster.object(refOf(outside))).toMatchObject({ spec: { hosts: ["outside.example"] } });
    await server.want([]);
    await until(() => !has(inside), "what is inside is gone");
    expect(has(outside)).toBe(true);
    expect(server.rejections().get(resourceKeyOf(refOf(outside)))?.message).toContain("--write-namespaces");
  });

  test("may be in Kubernetes' own namespaces only where the flag names them", async () => {
    await connect({ writeNamespaces: new Set(["*", "kube-system"]) });
    const [system, open, lease] = [route("dns", "kube-system"), route("open"), route("lease", "kube-node-lease")];
    await server.want([system, open, lease]);
    expect([has(system), has(open), has(lease)]).toEqual([true, true, false]);
  });
});

describe("what a hostile server has an agent remove", () => {
  const budget = (deleteBudget: object) => settings({ relay: { deleteBudget } });

  test("waits above the agent's own budget, whatever its Settings say", async () => {
    await connect();
    server.tell({ put: [budget({ percent: 100, objects: 1_000_000 })], remove: [] });
    await server.want(routes(100));
    await until(() => server.lines.some((line) => line.includes("--delete-budget-percent")), "the agent says that it keeps its own limit");
    await server.want([], { evidence: DESTINATION });
    expect(left()).toBe(100);
    expect([...server.rejections().values()].map(({ code }) => code)).toEqual(Array(100).fill("Held"));
  });

  test("waits above a lower budget of Settings too, and above a higher one that the agent's flags allow", async () => {
    await connect({ deleteBudget: { percent: 100, objects: 200 } });
    server.tell({ put: [budget({ percent: 100, objects: 200 })], remove: [] });
    await until(() => server.agent.settings.deleteLimits.percent === 100, "the budget holds");
    await server.want(routes(60));
    await server.want([], { evidence: DESTINATION });
    await until(() => left() === 0, "they are gone");
    server.tell({ put: [budget({ percent: 0, objects: 3 })], remove: [] });
    await until(() => server.agent.settings.deleteLimits.objects === 3, "the lower budget holds");
    await server.want(routes(10));
    await server.want([], { evidence: DESTINATION });
    expect(left()).toBe(10);
  });

  test("never exceeds the agent's hourly limit, for any reason that the server gives, nor by its word that deletes may go on", async () => {
    await connect({ removalsPerHour: { percent: 20, objects: 30 } });
    await server.want(routes(100));
    // As if users had deleted what asked for them: the budget does not count that.
    await server.want(routes(75), { evidence: { ...DESTINATION, apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind } });
    await until(() => left() === 75, "the first are gone");
    await server.want([], { evidence: { ...DESTINATION, apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind } });
    expect(left()).toBe(75);
    await server.ask(RESUME_DELETES_TOPIC);
    await server.ask(RESUME_DELETES_TOPIC);
    expect(left()).toBe(75);
    expect(server.rejections().size).toBe(75);
    for (const { code, message } of server.rejections().values()) {
      expect([code, message]).toEqual(["Held", expect.stringContaining(`annotate Namespace ${NAMESPACE} of this cluster`)]);
    }

    const own = cluster.object({ apiVersion: "v1", kind: "Namespace", name: NAMESPACE, namespace: "" });
    const annotations = { "isthmus.mesh/resume-deletes": "2026-11-22" };
    await cluster.update({ ...own, metadata: { name: NAMESPACE, annotations } } as unknown as Resource);
    await until(() => left() === 0, "the operator of this cluster let them go");
  });
});

describe("what a hostile server tells an agent", () => {
  const policy = { apiVersion: TrafficPolicy.apiVersion, kind: "TrafficPolicy", metadata: { name: "mine", namespace: "bookinfo" } };
  const told = (status: unknown): AnyResource => ({ ...policy, metadata: { ...policy.metadata, clusterName }, status });
  beforeEach(() => cluster.load([{ ...policy, spec: {} } as unknown as Resource]));

  test.each([
    ["conditions that are no list", { conditions: 7 }],
    ["a condition that is none", { conditions: [null] }],
    ["a condition without a type", { conditions: [{ status: {}, lastTransitionTime: 5 }] }],
    ["a status that is a text", "ACCEPTED"],
    ["a status that is a list", [1]],
  ])("is left out when it is %s, and the agent continues", async (_, status) => {
    await connect();
    server.tell({ put: [told(status)], remove: [] });
    await until(
      () => server.lines.some((line) => line.includes(`a status of TrafficPolicy bookinfo/mine in ${clusterName} that is not valid`)),
      "the agent says that it does not take it",
    );
    server.tell({ put: [told({ state: "ACCEPTED" })], remove: [] });
    await until(
      () => (cluster.object(refOf(policy)) as { status?: { state?: string } })?.status?.state === "ACCEPTED",
      "the next is written",
    );
  });

  test("changes no object but the statuses of what users ask", async () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "reviews", namespace: "bookinfo" } };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } };
    cluster.load([service, node]);
    await connect();
    const before = JSON.stringify(cluster.objects());
    const say = (resource: Resource) => ({ ...resource, metadata: { ...resource.metadata, clusterName }, status: { phase: "Failed" } });
    server.tell({ put: [say(service), say(node), { ...told({}), spec: { policy: {} } } as AnyResource], remove: [refOf(service)] });
    await server.want([]);
    expect(JSON.stringify(cluster.objects())).toBe(before);
  });
});

test("a hostile server gets no answer to queries but the one that agents know", async () => {
  cluster.load([
    { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: NAMESPACE }, data: { token: "dG9w" } } as unknown as Resource,
  ]);
  await connect();
  for (const topic of ["snapshot", "secrets", "/snapshots/input", "__proto__", "constructor", "", "x".repeat(100_000)]) {
    await expect(server.ask(topic)).rejects.toThrow(/does not support the query/);
  }
});

test("a hostile server hears of no namespace but those that the agent reports of, whatever its Settings select", async () => {
  const service = (namespace: string) => ({ apiVersion: "v1", kind: "Service", metadata: { name: `of-${namespace}`, namespace } });
  cluster.load(["bookinfo", "istio-system", NAMESPACE].map(service));
  await connect({ readNamespaces: new Set(["bookinfo"]) });
  const everything = { discovery: { selectors: [{ matchExpressions: [{ key: "nothing", operator: "DoesNotExist" }] }] } };
  server.tell({ put: [settings(everything)], remove: [] });
  cluster.load([{ apiVersion: "v1", kind: "Service", metadata: { name: "later", namespace: NAMESPACE } }]);
  cluster.load([{ apiVersion: "v1", kind: "Service", metadata: { name: "later", namespace: "bookinfo" } }]);
  await until(() => server.reported().has("later.bookinfo"), "what may be heard of is heard of");
  expect([...server.reported()].sort()).toEqual(["later.bookinfo", "of-bookinfo.bookinfo"]);
});
