import { AccessPolicy, allKinds, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { demoClusters, simulatedCluster } from "@isthmus/simulator";
import { beforeEach, expect, test } from "vitest";
import type { Demo } from "../src/demo.ts";
import { help, pressedKey } from "../src/keys.ts";
import { demoVirtualMesh } from "../src/trust/virtualMesh.ts";

const clock = { now: () => 0, sleep: async () => undefined };
const said: string[] = [];
const running = new Set(["cluster-1", "cluster-2"]);
let demo: Demo;

beforeEach(async () => {
  said.length = 0;
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  await management.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } });
  await management.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "bookinfo" } });
  const workload = ["cluster-1", "cluster-2"].map((name) => simulatedCluster({ name, clock, kinds: allKinds() }));
  for (const { name } of workload) running.add(name);
  demo = {
    ...{
      management,
      workload,
      contexts: [],
      port: 0,
      ended: Promise.resolve(),
      server: undefined as never,
      traffic: undefined as never,
      ask: undefined as never,
      hasOneRoot: () => true,
      rejection: async () => ["spec.policy: names cluster-9"],
    },
    startAgent: (name) => void running.add(name),
    stopAgent: async (name) => void running.delete(name),
    isAgentRunning: (name) => running.has(name),
  };
});

type Scaled = { readonly spec: { readonly replicas?: number } };

/** What is said after a key. */
async function press(key: string): Promise<string> {
  said.length = 0;
  await pressedKey(key, demo, (line) => void said.push(line));
  return said.join("\n");
}

const policies = async () => (await demo.management.list(TrafficPolicy)).items.map(({ metadata }) => metadata.name);

test("s and t create their policies once, u and d delete them, and each says what it has done", async () => {
  expect(await press("s")).toMatch(/is created in the management cluster: 25% of the calls/);
  expect(await press("s")).toMatch(/already exists: nothing changes/);
  expect(await press("t")).toMatch(/is created in the management cluster: .*time out after 2 s/);
  expect(await policies()).toHaveLength(2);
  expect(await press("u")).toMatch(/is deleted/);
  expect(await press("u")).toMatch(/does not exist/);
  expect(await press("d")).toMatch(/is deleted/);
  expect(await policies()).toEqual([]);
});

test("x and y create and delete an AccessPolicy; a key says what it does and where to look", async () => {
  const lines = (await press("x")).split("\n");
  expect(lines[0]).toMatch(/^AccessPolicy bookinfo\/ratings-callers is created in the management cluster: .* gets 403/);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("look at Topology");
  expect((await demo.management.list(AccessPolicy)).items).toHaveLength(1);
  expect(await press("y")).toMatch(/^AccessPolicy bookinfo\/ratings-callers is deleted/);
  expect((await demo.management.list(AccessPolicy)).items).toEqual([]);
});

test("k stops the pod of ratings, starts it again, and changes nothing else of its Deployment", async () => {
  expect(await press("k")).toMatch(/There is no Deployment/);
  const [cluster] = demo.workload;
  cluster?.load(demoClusters()["cluster-1"] ?? []);
  const ratings = () =>
    cluster?.object({ apiVersion: "apps/v1", kind: "Deployment", name: "ratings-v1", namespace: "bookinfo" }) as unknown as Scaled;
  const before = ratings().spec;
  expect(await press("k")).toMatch(/^The pod of ratings in cluster-1 is stopped/);
  expect(ratings().spec).toEqual({ ...before, replicas: 0 });
  expect(await press("k")).toMatch(/^The pod of ratings in cluster-1 is started/);
  expect(ratings().spec).toEqual(before);
});

test("the list of keys fits into 60 columns", () => {
  for (const line of help().split("\n")) expect(line.length).toBeLessThanOrEqual(60);
});

test("a stops the agent and starts it again; while it is stopped, a policy says that changes wait", async () => {
  expect(await press("a")).toMatch(/^The agent of cluster-2 is stopped/);
  expect(await press("s")).toMatch(/The agent of cluster-2 is stopped: changes for its cluster are pending/);
  expect(await press("a")).toMatch(/^The agent of cluster-2 is started/);
  expect([...running].sort()).toEqual(["cluster-1", "cluster-2"]);
});

test("p prints the state, and any other key lists the keys", async () => {
  expect(await press("p")).toMatch(/VirtualService|meshes|cluster-1/);
  for (const key of ["?", "h", "z"]) expect(await press(key)).toMatch(/^Keys:[\s\S]*quit \(or Ctrl-C\)/);
});

test("r has the VirtualMesh take a generated root in place of its users', and another one each time", async () => {
  expect(await press("r")).toMatch(/has no shared root/);
  await demo.management.create(demoVirtualMesh);
  const [first = "", second = ""] = (await press("r")).split("\n");
  expect(first).toMatch(/^VirtualMesh gloo-mesh\/bookinfo gets another root: three steps, two minutes/);
  expect(second).toContain("look at VirtualMeshes");
  const mesh = async () => demo.management.get(VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" });
  expect((await mesh())?.spec?.mtlsConfig?.shared?.rootCertificateAuthority).toEqual({
    generated: { rsaKeySizeBytes: 2048, ttlDays: 365 },
  });
  expect((await mesh())?.metadata.annotations).toEqual({
    "isthmus.mesh/root-generation": "1",
    "isthmus.mesh/previous-roots": "gloo-mesh/demo-root",
  });
  await press("r");
  expect((await mesh())?.metadata.annotations).toMatchObject({
    "isthmus.mesh/root-generation": "2",
    "isthmus.mesh/previous-root-generation": "1, before 2",
  });
  expect((await mesh())?.spec?.federation).toEqual({ permissive: {}, failover: {} });
});
