import { allKinds, VirtualMesh } from "@isthmus/api";
import { type AnyResource, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { namedCluster } from "../src/cluster/namedCluster.ts";
import {
  accessPolicy,
  approval,
  cluster,
  condition,
  deployment,
  destination,
  mesh,
  trafficPolicy,
  virtualDestination,
  virtualMesh,
} from "./fleetObjects.ts";
import { expectGolden } from "./goldenText.ts";
import { managementCluster, runIn } from "./planeRun.ts";
import { processed } from "./processed.ts";

const HEALTHY = [
  deployment("gloo-mesh-mgmt-server"),
  cluster("east"),
  mesh("east", { virtualMesh: "bookinfo" }),
  destination("reviews", "east", { isFederated: true }),
  virtualMesh("bookinfo", ["east"]),
  trafficPolicy("slow"),
  accessPolicy("reviewers"),
];

describe("meshctl check", () => {
  it("finds nothing in a plane that is well", async () => {
    const run = await runIn(managementCluster(HEALTHY), ["check"]);
    expectGolden("check/healthy", run.out);
    expect(run).toMatchObject({ code: 0, err: "28 checks: nothing found\n" });
  });

  it("prints what is wrong, with a remedy for each", async () => {
    const paused = condition("DeletesPaused", "True", "mass deletion on hold, waiting for approval", "TooManyAtOnce");
    const objects = [
      deployment("gloo-mesh-mgmt-server", { image: "registry.example/gloo-mesh/server:0.5.1" }),
      deployment("gloo-mesh-redis", { availableReplicas: 0 }),
      deployment("gloo-mesh-ui", { replicas: 0, availableReplicas: 0 }),
      cluster("east", "LAGGING", { version: "0.1.0", conditions: [condition("Lagging", "True", "a change waits for the agent"), paused] }),
      cluster("west", "OFFLINE", { version: "0.4.0" }),
      cluster("north", "SYNCING", { version: "0.5.0" }),
      mesh("east", { version: "1.19.3", virtualMesh: "bookinfo" }),
      mesh("west", { version: "1.24.1", virtualMesh: "bookinfo" }),
      { ...destination("reviews", "east", { isFederated: true, pods: 0 }) },
      destination("reviews", "west", { ports: [{ port: 9081, name: "http" }] }),
      virtualMesh("bookinfo", ["east", "west"], { globalAccessPolicy: "ENABLED" }),
      virtualMesh("second", ["east", "wset"]),
      trafficPolicy("shifted", approval("INVALID", { errors: ["spec.policy.requestTimeout: must be a duration"] })),
      trafficPolicy("old", approval("ACCEPTED", { observedGeneration: 0 })),
      trafficPolicy(
        "warned",
        approval("ACCEPTED", {
          warnings: ["spec.policy.retry: unknown field"],
          conditions: [{ type: "Applied", status: "False", message: "1 of 2 objects is not applied" }],
        }),
      ),
    ];
    const broken = managementCluster(processed(objects, [VirtualMesh]));
    for (const columns of [undefined, 80, 120]) {
      const run = await runIn(broken, ["check"], columns);
      expect(run.code).toBe(1);
      for (const line of run.out.split("\n")) expect(line.length).toBeLessThanOrEqual(columns ?? Number.POSITIVE_INFINITY);
      expectGolden(`check/broken${columns === undefined ? "" : `-${columns}`}`, run.out + run.err);
    }
    const json = await runIn(broken, ["check", "-o", "json"]);
    expect(json.code).toBe(1);
    const { checks } = JSON.parse(json.out) as { checks: { findings: { code: string }[] }[] };
    expect(new Set(checks.flatMap(({ findings }) => findings.map(({ code }) => code)))).toEqual(
      new Set(
        "HLT1101 REL1004 REL1001 REL1101 REL1007 REL1010 HLT1003 CFG1101 CFG1102 CFG1103 FED1001 FED1002 FED1003 UPG1001 FED1012 FED1009 FED1007 SEC1001".split(
          " ",
        ),
      ),
    );
  });

  it("looks at VirtualDestinations, also at what one mesh refuses", async () => {
    const meshes = { "istiod-istio-system-east.gloo-mesh.": { state: "INVALID", errors: ["the host is a user's ServiceEntry"] } };
    const refused = virtualDestination("reviews", approval("INVALID", { meshes }));
    const onMesh = {
      "istiod-istio-system-east.gloo-mesh.": {
        state: "ACCEPTED",
        warnings: ["spec.port: not on this mesh", "spec.virtualMesh: no effect"],
      },
    };
    const warned = virtualDestination("ratings", approval("ACCEPTED", { warnings: ["spec.virtualMesh: no effect"], meshes: onMesh }));
    const waiting = virtualDestination("details", {});
    const { code, out } = await runIn(managementCluster([...HEALTHY, refused, warned, waiting]), ["check"]);
    expect(code).toBe(1);
    expect(out).toContain("error: VirtualDestination bookinfo/reviews is INVALID: the host is a user's ServiceEntry [CFG1101]");
    expect(out).toContain("meshctl describe virtualdestination bookinfo/reviews");
    expect(out.match(/VirtualDestination bookinfo\/ratings: .*/g)).toEqual([
      "VirtualDestination bookinfo/ratings: spec.virtualMesh: no effect [CFG1103]",
      "VirtualDestination bookinfo/ratings: spec.port: not on this mesh [CFG1103]",
    ]);
    expect(out).toContain("warning: VirtualDestination bookinfo/details is not processed yet");
  });

  it("says that a certificate has expired, and that no cluster is registered", async () => {
    const expired = cluster("east", "OFFLINE", { agent: { version: "0.1.0", certificateNotAfter: "2026-11-19T00:00:00Z" } });
    expect((await runIn(managementCluster([deployment("gloo-mesh-mgmt-server"), expired]), ["check"])).out).toContain(
      "error: cluster east: the certificate of its agent expired at 2026-11-19T00:00:00Z [CRT1001]",
    );
    const none = await runIn(managementCluster([deployment("gloo-mesh-mgmt-server")]), ["check"]);
    expect(none).toMatchObject({ code: 0, err: "28 checks: 1 info\n" });
    expect(none.out).toContain("info: no cluster is registered [REL1008]");
  });

  it("checks again until nothing is found (--wait), and prints only that", async () => {
    const [ready, starting] = [1, 0].map((availableReplicas) =>
      managementCluster([deployment("gloo-mesh-mgmt-server", { availableReplicas })]),
    );
    let rounds = 0;
    // Each round connects once.
    const connect = async () => (rounds++ === 0 ? starting : ready) as Cluster;
    const args = ["check", "--only", "gloo-mesh", "--wait", "--timeout", "1m"];
    const run = await runIn(managementCluster([]), args, undefined, { connect });
    expect(run.out).toContain("✅ Gloo Mesh pods are running");
    expect([run.code, run.out.match(/Gloo Mesh pods are running/g)?.length, rounds]).toEqual([0, 1, 2]);
  });

  it("prints what is found at the end of --timeout, and ends with 124", async () => {
    const starting = managementCluster([deployment("gloo-mesh-mgmt-server", { availableReplicas: 0 })]);
    const run = await runIn(starting, ["check", "--only", "gloo-mesh", "--wait", "--timeout", "0s"]);
    expect(run).toMatchObject({ code: 124, out: expect.stringContaining("❌ Gloo Mesh pods are running") });
    expect((await runIn(starting, ["check", "--only", "gloo-mesh"])).code).toBe(1);
    const idle = await runIn(starting, ["check", "--timeout", "1m"]);
    expect(idle).toMatchObject({ code: 2, err: "error: --timeout has no effect without --wait\n" });
  });

  it("tells a namespace that is not there from one without Deployments, where the user may see it", async () => {
    const plane = managementCluster([]);
    const pods = async (cluster: Cluster) => (await runIn(cluster, ["check", "-n", "elsewhere", "--only", "gloo-mesh"])).out;
    expect(await pods(plane)).toContain("  - error: specified namespace elsewhere doesn't exist [HLT1101]\n    → --namespace names");
    const forbidden = { ...plane, get: () => Promise.reject(new ClusterError("Forbidden", "namespaces is forbidden")) } as Cluster;
    expect(await pods(forbidden)).toContain("  - error: no deployments found in namespace elsewhere [HLT1101]");
    await plane.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "elsewhere" } } as never);
    expect(await pods(plane)).toContain("  - error: no deployments found in namespace elsewhere [HLT1101]");
  });

  it("fails for warnings only when it is made to", async () => {
    const lagging = managementCluster([...HEALTHY.slice(0, 1), cluster("east", "LAGGING")]);
    expect((await runIn(lagging, ["check"])).code).toBe(0);
    expect((await runIn(lagging, ["check", "--fail-on", "warning"])).code).toBe(1);
  });

  it("prints the same as YAML, with the same exit code", async () => {
    const lagging = managementCluster([deployment("gloo-mesh-mgmt-server"), cluster("east", "LAGGING")]);
    const [json, yaml] = [await runIn(lagging, ["check", "-o", "json"]), await runIn(lagging, ["check", "-o", "yaml"])];
    expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
    expect(yaml.code).toBe(json.code);
    expect((await runIn(lagging, ["check", "-o", "yaml", "--fail-on", "warning"])).code).toBe(1);
  });

  it("checks only some categories, and reads only what they need", async () => {
    const plane = forbidding(managementCluster([...HEALTHY.slice(0, 1), cluster("east", "LAGGING")]), "deployments");
    const clusters = await runIn(plane, ["check", "--only", "configuration", "access", "-o", "json"]);
    expect(clusters).toMatchObject({ code: 0, err: "11 checks: nothing found\n" });
    const { checks } = JSON.parse(clusters.out) as { checks: { category: string }[] };
    expect(new Set(checks.map(({ category }) => category))).toEqual(new Set(["Management Configuration", "Access"]));
    expect(await runIn(plane, ["check", "--skip", "gloo-mesh", "clusters"])).toMatchObject({ code: 0, err: "20 checks: nothing found\n" });
  });

  it.each([
    [["--only", "access", "--skip", "meshes"], "--only and --skip are mutually exclusive"],
    [["--only", "everything"], "Allowed choices are gloo-mesh, clusters, configuration, meshes, federation, access"],
    [["-o", "xml"], "Allowed choices are text, json, yaml"],
  ])("refuses %j", async (args, message) => {
    const run = await runIn(managementCluster(HEALTHY), ["check", ...args]);
    expect(run).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
  });

  it("says which Secrets it may not read, and checks the rest", async () => {
    const plane = managementCluster(HEALTHY);
    const get: Cluster["get"] = (kind, ref, signal) =>
      kind.kind === "Secret" ? Promise.reject(new ClusterError("Forbidden", "secrets is forbidden")) : plane.get(kind, ref, signal);
    const run = await runIn({ ...plane, get }, ["check"]);
    expect(run).toMatchObject({ code: 3, err: "28 checks: nothing found; 1 could not be made\n" });
    expect(run.out).toContain("not checked: secrets is forbidden");
  });

  it("names CRDs that are missing", async () => {
    const run = await runIn(
      managementCluster(
        HEALTHY.slice(0, 2),
        allKinds().filter(({ kind }) => kind !== "VirtualMesh"),
      ),
      ["check"],
    );
    expect(run.code).toBe(1);
    expect(run.out).toContain("error: the API server does not serve VirtualMesh (networking.mesh.gloo.solo.io/v1) [UPG1101]");
    expect(run.out).toContain("❔ Every mesh of a VirtualMesh was discovered");
  });

  it("checks what the user may read, says what not, and exits with 3", async () => {
    const plane = forbidding(managementCluster(HEALTHY), "deployments");
    const run = await runIn(plane, ["check"]);
    expect(run.code).toBe(3);
    expect(run.err).toBe("28 checks: nothing found; 4 could not be made\n");
    expect(run.out).toContain("❔ Gloo Mesh pods are running\n  - not checked: deployments is forbidden. Use a kubeconfig whose user");
    // What is wrong counts more than what is unknown.
    const broken = forbidding(managementCluster([cluster("east", "OFFLINE")]), "deployments");
    expect((await runIn(broken as Cluster, ["check"])).code).toBe(1);
  });

  it("ends with 2 when the user may read nothing, and says why", async () => {
    const plane = {
      ...managementCluster(HEALTHY),
      list: () => Promise.reject(new ClusterError("Forbidden", "deployments.apps is forbidden")),
    };
    const run = await runIn(plane as Cluster, ["check"]);
    expect(run).toMatchObject({ code: 2, out: "" });
    expect(run.err).toMatch(/^error: management cluster: deployments.apps is forbidden. Use a kubeconfig whose user has these permissions/);
  });

  it("says of credentials that have expired to renew them, and nothing of permissions", async () => {
    const unknown = (): Promise<never> =>
      Promise.reject(new ClusterError("Forbidden", "the credentials are not accepted: Unauthorized", { isUnknownUser: true }));
    const plane = { ...managementCluster([]), servedKinds: unknown, get: unknown, list: unknown } as Cluster;
    const remedy = "log in to the cluster again, or renew the token or certificate of the kubeconfig's user: it may have expired";
    for (const command of [["check"], ["get", "meshes"], ["cluster", "revoke", "east"]]) {
      const { code, err } = await runIn(plane, command);
      expect([code, err.toLowerCase()]).toEqual([
        2,
        `error: management cluster: the credentials are not accepted: unauthorized. ${remedy}\n`,
      ]);
    }
    // As install and cluster register say it.
    await expect(namedCluster(plane, "cluster east").servedKinds()).rejects.toMatchObject({
      message: `cluster east: the credentials are not accepted: Unauthorized (${remedy})`,
    });
  });

  it("does not advise to wait where the certificate of the API server is the cause", async () => {
    const altnames = Object.assign(new Error("altnames"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    const broken = {
      ...managementCluster([]),
      list: () => Promise.reject(new ClusterError("Unavailable", "cannot reach the API server: altnames", {}, altnames)),
    };
    expect((await runIn(broken as Cluster, ["check"])).err).toBe("error: management cluster: cannot reach the API server: altnames\n");
  });

  it("ends with 2 when the API server does not answer", async () => {
    const plane = {
      ...managementCluster([]),
      list: () => Promise.reject(new ClusterError("Unavailable", "cannot reach the API server: timeout")),
    };
    const run = await runIn(plane as Cluster, ["check"]);
    expect(run).toMatchObject({ code: 2, out: "" });
    expect(run.err).toBe(
      "error: management cluster: cannot reach the API server: timeout. Check that kubectl reaches the API server with the same " +
        "--kubeconfig and --context, or raise --request-timeout\n",
    );
  });
});

/** A cluster of which the user may not list a resource. */
function forbidding(plane: Cluster, plural: string): Cluster {
  return {
    ...plane,
    list: (kind, options, signal) =>
      kind.plural === plural ? Promise.reject(new ClusterError("Forbidden", `${plural} is forbidden`)) : plane.list(kind, options, signal),
  };
}

const istiod = (version: string): AnyResource => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "istiod", namespace: "istio-system", creationTimestamp: "2026-11-18T09:30:00Z" },
  spec: {
    selector: { matchLabels: { app: "istiod" } },
    template: {
      metadata: { labels: { app: "istiod" } },
      spec: { serviceAccountName: "istiod", containers: [{ name: "discovery", image: `docker.io/istio/pilot:${version}` }] },
    },
  },
});

const meshConfig = (text: string): AnyResource => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "istio", namespace: "istio-system" },
  data: { mesh: text },
});

const gateway: AnyResource = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "istio-eastwestgateway", namespace: "istio-system" },
  spec: { type: "LoadBalancer", selector: { istio: "ingressgateway" }, ports: [{ name: "tls", port: 15443, targetPort: 15443 }] },
  status: { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } },
};

/** What an API server answers beside objects. */
function apiServer(version: string, denied: readonly string[] = []) {
  return async () => ({
    address: "https://east.example",
    version: async () => version,
    clockAheadMs: async () => undefined,
    isAllowed: async ({ resource }: { readonly resource: string }) => !denied.includes(resource),
    connectToPod: () => Promise.reject(new Error("no pod was meant")),
    podLog: async function* () {
      yield "";
    },
  });
}

describe("meshctl precheck", () => {
  it.each([
    ["v0.0.0-master+$Format:%H$", "warning"],
    ["v1.27.16-gke.100", "error"],
    ["v1.9.3", "error"],
    ["nonsense", "warning"],
  ])("does not take Kubernetes %s for a supported version: %s", async (version, severity) => {
    const run = await runIn(managementCluster([]), ["precheck"], undefined, { connectApiServer: apiServer(version) });
    expect(run.out.split("\n").filter((line) => line.includes(version))).toEqual([expect.stringContaining(`  - ${severity}: `)]);
  });

  it("finds nothing in a cluster that is ready", async () => {
    const ready = managementCluster([
      istiod("1.24.1"),
      meshConfig('trustDomain: east.example\ndefaultConfig: {proxyMetadata: {ISTIO_META_DNS_CAPTURE: "true"}}\n'),
      gateway,
    ]);
    const run = await runIn(ready, ["precheck"], 80, { connectApiServer: apiServer("v1.31.2") });
    expectGolden("precheck/ready", run.out);
    expect(run).toMatchObject({ code: 0, err: "7 checks: nothing found\n" });
  });

  it("prints what is in the way", async () => {
    const poor = managementCluster([istiod("1.18.0"), meshConfig("trustDomain: cluster.local\n")]);
    const outside = { connectApiServer: apiServer("v1.27.9", ["clusterroles", "deployments"]) };
    for (const columns of [80, 120]) {
      const run = await runIn(poor, ["precheck"], columns, outside);
      expect(run.code).toBe(1);
      expectGolden(`precheck/poor-${columns}`, run.out + run.err);
    }
  });

  it("warns where no mesh is found, or its configuration is missing", async () => {
    const outside = { connectApiServer: apiServer("v1.31.2") };
    const none = await runIn(managementCluster([]), ["precheck"], undefined, outside);
    expect(none.out).toContain("[PRE1101]");
    // What is not there is not said to be right.
    expect(none.out.split("\n").filter((line) => /Istio|gateway/.test(line) && !/install Istio/.test(line))).toEqual([]);
    expect(none.err).toBe("3 checks: 1 warning\n");
    const bare = await runIn(managementCluster([istiod("1.24.1")]), ["precheck"], undefined, outside);
    expect(bare.out).toContain("Deployment istio-system/istiod: ConfigMap istio-system/istio");
    expect(bare.code).toBe(1);
  });

  it("belongs to check, for the contexts of workload clusters", async () => {
    const remote = managementCluster([
      deployment("gloo-mesh-agent", { availableReplicas: 0 }),
      istiod("1.24.1"),
      meshConfig("trustDomain: east.example\n"),
      gateway,
    ]);
    const plane = managementCluster(HEALTHY);
    const connect = async ({ context }: { readonly context?: string }) => (context === "east" ? remote : plane);
    const outside = { connect, connectApiServer: apiServer("v1.31.2") };
    const run = await runIn(plane, ["check", "--remote-context", "east"], undefined, outside);
    expect(run.code).toBe(1);
    expect(run.out).toContain(
      "Cluster of context east\n--------------------------\n✅ Kubernetes is 1.28 or later\n❌ The agent is running",
    );
  });

  it("takes a context that is not there for a mistake, and one that does not answer for a gap", async () => {
    const plane = managementCluster(HEALTHY);
    const run = (outside: object) => runIn(plane, ["check", "--remote-context", "east"], undefined, outside);
    const connectApiServer = () => Promise.reject(new UsageError("kubeconfig: context east not found; available contexts: mgmt"));
    expect(await run({ connectApiServer })).toEqual({
      code: 2,
      out: "",
      err: "error: kubeconfig: context east not found; available contexts: mgmt\n",
    });
    const silent = async () => ({ ...plane, list: () => Promise.reject(new ClusterError("Unavailable", "no answer")) });
    const connect = async (place: { readonly context?: string }) => (place.context === "east" ? silent() : plane);
    const gap = await run({ connect, connectApiServer: apiServer("v1.31.2") });
    expect(gap).toMatchObject({ code: 3, out: expect.stringContaining("not checked: ") });
  });
});
