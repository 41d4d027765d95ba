import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endCallers, startCallers } from "./callers.ts";
import { run, tried, until } from "./commands.ts";
import {
  apply,
  callsWithin,
  command,
  INJECTED,
  installApps,
  installIstio,
  installPlane,
  kube,
  loadImages,
  MESHES,
  matrixOf,
  statusOf,
} from "./fleet.ts";
import { reasonsAgainstNodes } from "./machine.ts";
import { CLUSTERS, PREFIX, planOf } from "./names.ts";
import { down, type Nodes, nodesIn, onLan, pathOf, pidOf, up } from "./nodes.ts";

const MINUTE = 60_000;
const state = process.env["ISTHMUS_NODES_STATE"] ?? join(tmpdir(), "isthmus-nodes");
let nodes: Nodes;
let before: Readonly<Record<string, string>>;

// With CI=true a machine that can have no nodes fails.
const reasons = reasonsAgainstNodes();
const isSkipped = reasons.length > 0 && process.env["CI"] !== "true";
if (isSkipped) console.log(`skipped: this machine can have no nodes: ${reasons.join("; ")}`);
const shows = test.skipIf(isSkipped);

beforeAll(async () => {
  if (isSkipped) return;
  expect(reasons).toEqual([]);
  const built = { folder: run(["bash", "tests/nodes/build.sh"], { timeout: 60 * MINUTE }).trim(), project: process.cwd() };
  nodes = nodesIn(state, built);
  await up(nodes, CLUSTERS, (text) => console.log(text));
  loadImages(nodes);
  for (const name of MESHES) installIstio(nodes, name);
  for (const name of MESHES) installApps(nodes, name);
  before = matrixOf(nodes, callsWithin());
}, 70 * MINUTE);

afterAll(async () => {
  if (isSkipped || process.env["KEEP_NODES"] === "1") return;
  await down(nodesIn(state, { folder: "", project: "" }));
}, 5 * MINUTE);

/** Objects of ours in the data plane of a cluster. */
function written(name: (typeof MESHES)[number]): readonly string[] {
  const kinds = "virtualservices,destinationrules,serviceentries,gateways,authorizationpolicies,sidecars,envoyfilters,wasmplugins";
  const selector = "owner.networking.mesh.gloo.solo.io";
  return kube(nodes, name, ["get", kinds, "-A", "-l", selector, "-o", "name"])
    .split("\n")
    .filter((line) => line !== "");
}

const federated = `http://reviews.${INJECTED}.svc.west.global:9080/`;
const virtualMesh = {
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "VirtualMesh",
  metadata: { name: "all", namespace: "gloo-mesh" },
  spec: {
    meshes: MESHES.map((name) => ({ name: `istiod-istio-system-${name}`, namespace: "gloo-mesh" })),
    mtlsConfig: { autoRestartPods: true, shared: { rootCertificateAuthority: { generated: {} } } },
    federation: { selectors: [{}] },
  },
};

shows("calls within each mesh pass, also between what has a sidecar and what has none", () => {
  expect(new Set(Object.values(before))).toEqual(new Set(["200"]));
});

shows("registration writes nothing into the meshes, and changes no call", { timeout: 10 * MINUTE }, async () => {
  await installPlane(nodes);
  expect(MESHES.flatMap(written)).toEqual([]);
  expect(matrixOf(nodes, callsWithin())).toEqual(before);
});

shows(
  "a VirtualMesh issues certificates, restarts what needs them, and hosts of the other mesh are called",
  {
    timeout: 20 * MINUTE,
  },
  async () => {
    apply(nodes, "mgmt", [virtualMesh]);
    kube(nodes, "mgmt", ["-n", "gloo-mesh", "wait", "--for=condition=Applied", "virtualmesh/all", "--timeout=15m"]);
    const call = { from: "east", caller: [INJECTED, "ratings"], url: federated } as const;
    await until("a call of the other mesh", 60, () => statusOf(nodes, call) === "200");
    expect(matrixOf(nodes, callsWithin())).toEqual(before);
  },
);

shows("an AccessPolicy lets in whom it names", { timeout: 5 * MINUTE }, async () => {
  const policy = {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "AccessPolicy",
    metadata: { name: "reviews", namespace: "gloo-mesh" },
    spec: {
      sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [{ name: "ratings", namespace: INJECTED, clusterName: "east" }] } }],
      destinationSelector: [{ kubeServiceRefs: { services: [{ name: "reviews", namespace: INJECTED, clusterName: "west" }] } }],
    },
  };
  apply(nodes, "mgmt", [policy]);
  kube(nodes, "mgmt", ["-n", "gloo-mesh", "wait", "--for=condition=Applied", "accesspolicy/reviews", "--timeout=60s"]);
  const local = { from: "west", caller: [INJECTED, "ratings"], url: `http://reviews.${INJECTED}:9080/` } as const;
  await until("who is not named is refused", 60, () => statusOf(nodes, local) === "403");
  expect(statusOf(nodes, { from: "east", caller: [INJECTED, "ratings"], url: federated })).toBe("200");
  kube(nodes, "mgmt", ["-n", "gloo-mesh", "delete", "accesspolicy/reviews"]);
  await until("all are let in again", 60, () => statusOf(nodes, local) === "200");
});

shows("a service whose pods are evicted one after the other loses no request", { timeout: 15 * MINUTE }, async () => {
  const load = command.bind(undefined, nodes);
  const requests = ["probe", "load", "6000", "40", `http://reviews.${INJECTED}:9080/`, federated];
  const exec = ["kubectl", "--context", "east", "-n", INJECTED, "exec", "deploy/ratings", "-c", "app", "--", ...requests];
  const evicted: string[] = [];
  const { spawn } = await import("node:child_process");
  const [program = "", ...args] = onLan(nodes, exec);
  const child = spawn(program, args, { env: pathOf(nodes), stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  for (const name of MESHES) {
    for (const pod of kube(nodes, name, ["-n", INJECTED, "get", "pods", "-l", "app=reviews", "-o", "name"]).trim().split("\n")) {
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod.slice("pod/".length), namespace: INJECTED } };
      load(
        [
          "kubectl",
          "--context",
          name,
          "create",
          "--raw",
          `/api/v1/namespaces/${INJECTED}/${pod.replace("pod/", "pods/")}/eviction`,
          "-f",
          "-",
        ],
        JSON.stringify(eviction),
      );
      evicted.push(pod);
      kube(nodes, name, ["-n", INJECTED, "rollout", "status", "deployment/reviews", "--timeout=2m"]);
      // As long as the agent waits between two pods of a workload (docs/certificates.md).
      await new Promise((resolve) => setTimeout(resolve, 15_000));
    }
  }
  await ended;
  expect(evicted).toHaveLength(4);
  const { results, failures } = JSON.parse(output) as {
    readonly results: Readonly<Record<string, Readonly<Record<string, number>>>>;
    readonly failures: readonly string[];
  };
  expect(failures).toEqual([]);
  expect(Object.values(results)).toEqual([{ 200: 6000 }, { 200: 6000 }]);
});

// Two gateways with two pods each, in three steps, and some of the 20 requests of that second.
const MOST_CUT = 12;

shows(
  "a change of root restarts all pods by evictions, and services with two pods lose no request within a cluster",
  {
    timeout: 30 * MINUTE,
  },
  async () => {
    const local = `http://reviews.${INJECTED}:9080/`;
    startCallers(nodes, (from) => [local, `http://reviews.${INJECTED}.svc.${MESHES.find((one) => one !== from)}.global:9080/`]);
    const rootOf = () => MESHES.map((name) => kube(nodes, name, ["-n", INJECTED, "get", "configmap/istio-ca-root-cert", "-o", "yaml"]));
    const uids = () =>
      MESHES.flatMap((name) => kube(nodes, name, ["-n", INJECTED, "get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"]).split(" "));
    const [roots, pods] = [rootOf(), uids()];
    command(nodes, ["meshctl", "cert", "rotate", "meshRoot/all.gloo-mesh", "--context", "mgmt"]);
    const wait = (condition: string, timeout: string) =>
      command(nodes, [
        "meshctl",
        "wait",
        "virtualmesh/all",
        "-n",
        "gloo-mesh",
        "--context",
        "mgmt",
        `--for=${condition}`,
        `--timeout=${timeout}`,
      ]);
    wait("condition=TrustInForce=False", "1m");
    wait("condition=TrustInForce", "25m");
    const requests = endCallers(nodes);
    console.log(JSON.stringify(requests));
    for (const root of rootOf()) expect(roots).not.toContain(root);
    expect(uids().filter((uid) => pods.includes(uid))).toEqual([]);
    for (const [from, { results, failures }] of requests) {
      expect(results[local], `${from} within its cluster`).toEqual({ 200: expect.any(Number) });
      const counts = Object.values(results).map((ofUrl) => ofUrl[200] ?? 0);
      expect(Math.min(...counts)).toBeGreaterThan(4_000);
      // When a gateway's old pod ends, what is under way on its connections fails, and nothing else does (docs/certificates.md).
      expect(failures.filter((failure) => !/connection termination|connection reset/.test(failure))).toEqual([]);
      expect(failures.length).toBeLessThan(MOST_CUT);
    }
  },
);

shows("without VirtualMesh and registration all is as it was", { timeout: 10 * MINUTE }, async () => {
  kube(nodes, "mgmt", ["-n", "gloo-mesh", "delete", "virtualmesh/all"]);
  await until("nothing of ours is left in the meshes", 120, () => MESHES.flatMap(written).length === 0);
  for (const name of MESHES) {
    command(nodes, ["meshctl", "cluster", "deregister", name, "--remote-context", name, "--mgmt-context", "mgmt", "--purge"]);
  }
  expect(matrixOf(nodes, callsWithin())).toEqual(before);
  const left = kube(nodes, "east", ["-n", "gloo-mesh", "get", "all,secrets,roles,rolebindings,networkpolicies,leases", "-o", "name"]);
  expect(left).toBe("");
});

shows("down leaves nothing", { timeout: 5 * MINUTE }, async () => {
  if (process.env["KEEP_NODES"] === "1") return;
  await down(nodes);
  expect(tried(["ip", "netns", "list"]).stdout).not.toContain(PREFIX);
  expect(existsSync(state)).toBe(false);
  expect(existsSync(`/sys/fs/cgroup/memory/${PREFIX}`)).toBe(false);
  expect(CLUSTERS.map((name) => pidOf(planOf(name, state)))).toEqual(CLUSTERS.map(() => undefined));
  expect(readFileSync("/proc/mounts", "utf8")).not.toContain(state);
});
