import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  AppMesh,
  CertificateRequest,
  Destination,
  IssuedCertificate,
  KubernetesCluster,
  PodBounceDirective,
  Secret,
  TrafficPolicy,
  VirtualMesh,
  VirtualService,
} from "@isthmus/api";
import { type AnyResource, groupOf, type Kind, type TimedCondition } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { grantedVerbs, rightsAreUsed } from "./charts/accountRights.ts";
import { exerciseEveryKind } from "./charts/everyKind.ts";
import { ciliumCrds, ciliumInstallation } from "./cilium/engine.ts";
import { type App, type ManagementServer, startAgent, startManagementServer } from "./harness/apps.ts";
import type { PlaneWrite } from "./harness/auditLog.ts";
import type { Program } from "./harness/childProcess.ts";
import { anyKind, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { anyFieldsCrd, applyAll, installCrds, kubernetesProjectCrds } from "./harness/manifests.ts";
import { fillMeshCluster } from "./harness/meshCluster.ts";
import { osmCrds, osmInstallation } from "./harness/osmInstallation.ts";
import { virtualMesh } from "./harness/policies.ts";
import { written } from "./harness/slice.ts";
import { startTokenController } from "./harness/tokenController.ts";
import { waitFor } from "./harness/waitFor.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const namespace = "gloo-mesh";
const POLICY = { name: "timeout", namespace };
const REVIEWS = { name: "reviews", namespace: "bookinfo" };
const ServiceAccount = anyKind("v1", "ServiceAccount", "serviceaccounts");
const ClusterRoleBinding = anyKind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", { namespaced: false });

// One story: each test continues where the one before it ended. The management cluster is the workload cluster cluster-1 as well.
describeReal("the modes without agents, on real Kubernetes", (components) => {
  let fleet: Fleet<"management" | "cluster-2">;
  let management: Cluster;
  let second: Cluster;
  let server: ManagementServer;
  let tokens: Program;
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];
  const apps: App[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "cluster-2"], { crds: "all" });
    management = clusterOf(fleet.servers.management, "");
    second = clusterOf(fleet.servers["cluster-2"], "cluster-2");
    tokens = startTokenController(components, fleet.servers["cluster-2"], fleet.directory);
    const meshes = [clusterOf(fleet.servers.management, "cluster-1"), second];
    const filled = await Promise.all(meshes.map((cluster) => fillMeshCluster(cluster, components, controllers.signal)));
    ends.push(...filled.map(({ ended }) => ended));
    await installCrds(second, [
      ...osmCrds(components, { own: true }),
      ...ciliumCrds(components),
      anyFieldsCrd(AppMesh),
      ...kubernetesProjectCrds(),
    ]);
    await applyAll(second, [...osmInstallation(), ciliumInstallation()]);
  });
  afterAll(async () => {
    await Promise.all([tokens, ...apps.map(({ program }) => program)].map((program) => program?.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet?.stop();
  });

  async function start(name: string, more: readonly string[]): Promise<void> {
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory, name, more });
    apps.push(server.app);
    await server.app.ready();
  }

  /** As the administrator of both clusters types it. */
  async function meshctl(...args: readonly string[]): Promise<string> {
    const places = ["--kubeconfig", fleet.servers["cluster-2"].kubeconfig, "--mgmt-kubeconfig", fleet.servers.management.kubeconfig];
    return (await promisify(execFile)(process.execPath, [MESHCTL, "cluster", ...args, ...places])).stderr;
  }

  async function inForce({ apiVersion, kind, plural }: Kind, name: string): Promise<void> {
    await waitFor(`${kind} ${name} to be in force`, async () => {
      const found = await management.get(anyKind(apiVersion, kind, plural), { name, namespace });
      const status = (found?.["status"] ?? {}) as { readonly state?: string; readonly conditions?: readonly TimedCondition[] };
      const applied = status.conditions?.find(({ type }) => type === "Applied");
      expect([status.state, applied?.status, applied?.observedGeneration], JSON.stringify(status)).toEqual([
        "ACCEPTED",
        "True",
        found?.metadata.generation,
      ]);
      return true;
    });
  }

  const timeoutIn = async (cluster: Cluster) => (await cluster.get(VirtualService, REVIEWS))?.spec?.http?.[0]?.timeout;

  /** Changes the policy and waits until every cluster in `clusters` has it. */
  async function ask(requestTimeout: string, clusters: readonly Cluster[]): Promise<void> {
    const { apiVersion, kind } = TrafficPolicy;
    const reviews = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } };
    const spec = { destinationSelector: [reviews], policy: { requestTimeout } };
    await applyAll(management, [{ apiVersion, kind, metadata: POLICY, spec }]);
    await waitFor("the new timeout", async () => {
      expect(await Promise.all(clusters.map(timeoutIn))).toEqual(clusters.map(() => requestTimeout));
      return true;
    });
    await inForce(TrafficPolicy, POLICY.name);
  }

  /** What is written while `during` runs, by cluster: without repeats, and without what only tells of it. */
  async function writesWhile(during: () => Promise<void>): Promise<Readonly<Record<string, readonly string[]>>> {
    const { servers } = fleet;
    const before = Object.fromEntries(Object.entries(servers).map(([name, api]) => [name, api.planeWrites().length]));
    await during();
    return Object.fromEntries(Object.entries(servers).map(([name, api]) => [name, traces(api.planeWrites().slice(before[name]))]));
  }

  async function connected(name: string): Promise<string | undefined> {
    const found = await management.get(KubernetesCluster, { name, namespace });
    return found?.status?.conditions?.find(({ type }) => type === "Connected")?.status;
  }

  const rest = () => new Promise((resolve) => setTimeout(resolve, 2_000));

  /** Bookinfo's pods take a while to be there, and what follows from each is written. */
  async function atRest(): Promise<readonly Readonly<Record<string, string>>[]> {
    const all = () => Promise.all([management, second].map(written));
    return waitFor("writes to come to rest", async () => {
      const before = await all();
      await rest();
      const after = await all();
      expect(after).toEqual(before);
      return after;
    });
  }

  it("single cluster: the server writes its own cluster, as soon as somebody asks for something", async () => {
    await start("mgmt-server", ["--single-cluster=cluster-1"]);
    await waitFor("the cluster to be connected", async () => (await connected("cluster-1")) === "True");
    await ask("3s", [management]);
    // What is applied is seen before what is reported of it: the policy was accepted, for nothing, before its service was discovered.
    await waitFor("its status to name the service", async () => {
      const policy = await management.get(TrafficPolicy, POLICY);
      expect(Object.keys(policy?.status?.destinations ?? {})).toEqual(["reviews-bookinfo-cluster-1.gloo-mesh."]);
      return true;
    });
    expect(await timeoutIn(second)).toBeUndefined();
  });

  it("standard: what others declare of a cluster is not taken from them, and nothing is made then", async () => {
    const { apiVersion, kind } = KubernetesCluster;
    const metadata = { name: "cluster-2", namespace };
    await management.apply({ apiVersion, kind, metadata, spec: { clusterDomain: "cluster.local" } } as KubernetesCluster, {
      fieldManager: "gitops",
    });
    await expect(meshctl("register", "cluster-2", "--standard", "--cluster-domain", "other.local")).rejects.toMatchObject({
      code: 2,
      stderr: "error: KubernetesCluster gloo-mesh/cluster-2: spec.clusterDomain is set by gitops: leave out --cluster-domain\n",
    });
    expect(await second.get(ServiceAccount, metadata)).toBeUndefined();
    expect((await management.get(KubernetesCluster, metadata))?.spec).toEqual({ clusterDomain: "cluster.local" });
  });

  it("standard: a cluster that is registered is connected to, with rights that suffice, and managed beside it", async () => {
    expect(await meshctl("register", "cluster-2", "--standard")).toContain("Successfully registered cluster: cluster-2");
    const token = await second.get(Secret, { name: "cluster-2-token", namespace });
    expect([token?.type, Object.keys(token?.data ?? {}).sort()]).toEqual([
      "kubernetes.io/service-account-token",
      ["ca.crt", "namespace", "token"],
    ]);
    await waitFor("the cluster to be connected", async () => (await connected("cluster-2")) === "True");
    await ask("4s", [management, second]);
    await applyAll(management, [virtualMesh()]);
    await inForce(VirtualMesh, "all");
    for (const cluster of await atRest()) expect(Object.keys(cluster).some((key) => key.startsWith("ServiceEntry "))).toBe(true);
    // What was created is turned into what is applied before it is changed for the first time: that is done with.
    await ask("44s", [management, second]);
    expect(fleet.servers["cluster-2"].planeRefusals()).toEqual([]);
  });

  it("an edit changes what it is about, in both clusters, and nothing else", async () => {
    expect(await writesWhile(() => ask("5s", [management, second]))).toEqual(ROUTES);
  });

  it("registering again changes nothing but what somebody else has changed", async () => {
    const secret = await management.get(Secret, { name: "cluster-2", namespace });
    const writes = await writesWhile(async () => {
      await meshctl("register", "cluster-2", "--standard");
      await rest();
    });
    expect(writes).toEqual({ management: [], "cluster-2": [] });
    expect(await management.get(Secret, { name: "cluster-2", namespace })).toEqual(secret);
  });

  it("a policy that lives in the registered cluster is answered there, by the rights that registration gave", async () => {
    const { apiVersion, kind } = TrafficPolicy;
    const metadata = { name: "timeout-ratings", namespace };
    // By default it is in force on Destinations of its own cluster alone.
    const ratings = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "ratings" } } };
    await applyAll(second, [{ apiVersion, kind, metadata, spec: { destinationSelector: [ratings], policy: { requestTimeout: "1s" } } }]);
    await waitFor("its status where it lives", async () => {
      const { status } = (await second.get(TrafficPolicy, metadata)) ?? {};
      expect([status?.state, Object.keys(status?.destinations ?? {})]).toEqual(["ACCEPTED", ["ratings-bookinfo-cluster-2.gloo-mesh."]]);
      return true;
    });
    await second.delete({ apiVersion, kind, ...metadata, clusterName: "cluster-2" });
    await waitFor("its routes to go", async () => {
      const routes = await Promise.all(
        [management, second].map((cluster) => cluster.get(VirtualService, { name: "ratings", namespace: "bookinfo" })),
      );
      expect(routes).toEqual([undefined, undefined]);
      return true;
    });
    await waitFor("its Destinations to say that it is gone", async () => {
      const names = ["ratings-bookinfo-cluster-1", "ratings-bookinfo-cluster-2"];
      const found = await Promise.all(names.map((name) => management.get(Destination, { name, namespace })));
      expect(found.map((destination) => destination?.status?.appliedTrafficPolicies ?? [])).toEqual([[], []]);
      return true;
    });
  });

  it("a policy that has become wrong stays as it was last accepted, also for a server that is killed and comes back", async () => {
    const writes = await writesWhile(async () => {
      const { apiVersion, kind } = TrafficPolicy;
      const services = [{ name: "reviewz", namespace: "bookinfo", clusterName: "cluster-1" }];
      const spec = { destinationSelector: [{ kubeServiceRefs: { services } }], policy: { requestTimeout: "1s" } };
      await applyAll(management, [{ apiVersion, kind, metadata: POLICY, spec }]);
      await waitFor("it to be answered", async () => {
        const { metadata, status } = (await management.get(TrafficPolicy, POLICY)) ?? {};
        expect([status?.observedGeneration, status?.state]).toEqual([metadata?.generation, expect.not.stringMatching("ACCEPTED")]);
        return true;
      });
      await server.app.program.kill();
      await server.app.restart();
      await waitFor("both clusters to be connected", async () => {
        expect(await Promise.all(["cluster-1", "cluster-2"].map(connected))).toEqual(["True", "True"]);
        return true;
      });
      await rest();
    });
    expect(await Promise.all([management, second].map(timeoutIn))).toEqual(["5s", "5s"]);
    expect(writes).toEqual({ management: [], "cluster-2": [] });
  });

  it("a server that is killed and comes back writes what was missed, and nothing else", async () => {
    const writes = await writesWhile(async () => {
      await server.app.program.kill();
      const back = server.app.restart();
      await ask("6s", [management, second]);
      await back;
      await rest();
    });
    expect(writes).toEqual(ROUTES);
  });

  it("what is removed in either cluster is on the admin port, with why", async () => {
    const { apiVersion, kind } = TrafficPolicy;
    await management.delete({ apiVersion, kind, ...POLICY, clusterName: "" });
    await waitFor("the routes to go", async () => {
      expect(await Promise.all([management, second].map(timeoutIn))).toEqual([undefined, undefined]);
      return true;
    });
    // It is noted when the API server has answered.
    const removed = await waitFor("the evidence", async () => {
      const { items } = (await (await fetch(`${server.adminUrl}/evidence`)).json()) as { readonly items: readonly Evidence[] };
      const found = items.filter(({ step, object }) => step === "Removed" && object.kind === "VirtualService" && object.name === "reviews");
      expect(found.map(({ object }) => object.clusterName).sort()).toEqual(["cluster-1", "cluster-2"]);
      return found;
    });
    expect(fleet.servers["cluster-2"].planeRefusals()).toEqual([]);
    for (const { evidence } of removed) expect(evidence.inputs.map(({ name }) => name)).toEqual([POLICY.name]);
  });

  it("each verb of the role that registration gave is used, and nothing is forbidden", async () => {
    const spec = (more: object): AnyResource => {
      const { spec, ...rest } = virtualMesh();
      const { federation: _, ...meshes } = spec as { readonly federation: object };
      return { ...rest, spec: { ...meshes, ...more } };
    };
    const server = fleet.servers["cluster-2"];
    const except = [IssuedCertificate, PodBounceDirective];
    await exerciseEveryKind({ management, cluster: "cluster-2", workload: second, server, hasAgent: false, except, virtualMesh: spec });
    await applyAll(management, [virtualMesh()]);
    await inForce(VirtualMesh, "all");
    const granted = await grantedVerbs(second, { name: "gloomesh-remote-access", namespace });
    const writes = ["get", "create", "update", "patch", "delete"];
    const reason =
      "without an agent nobody makes a key: an order for one that an earlier agent left may be found, and is written again by no story";
    const exceptions = Object.fromEntries(
      except.flatMap(({ apiVersion, plural }) => writes.map((verb) => [`${groupOf(apiVersion)}/${plural} ${verb}`, reason])),
    );
    const { apiVersion: group, plural } = CertificateRequest;
    const unanswered = { [`${groupOf(group)}/${plural}/status patch`]: "without an agent for certificates nobody requests one" };
    expect(granted.length).toBeGreaterThan(60);
    await rightsAreUsed({ granted, used: server.planeVerbs, exceptions: { ...exceptions, ...unanswered } });
    expect(server.planeRefusals()).toEqual([]);
  });

  it("a cluster that is deregistered keeps what it has, and the other one forgets it", async () => {
    await ask("7s", [management, second]);
    const [, before] = await atRest();
    expect(await meshctl("deregister", "cluster-2")).toContain("Successfully deregistered cluster: cluster-2");
    await waitFor("what came from it to go", async () => {
      const left = Object.keys((await written(management)) ?? {}).filter((key) => key.includes("cluster-2"));
      expect(left).toEqual([]);
      return true;
    });
    await rest();
    expect(await written(second)).toEqual(before);
    const account = { name: "cluster-2", namespace };
    expect([
      await management.get(KubernetesCluster, account),
      await management.get(Secret, account),
      await second.get(ServiceAccount, account),
      await second.get(Secret, { name: "cluster-2-token", namespace }),
      await second.get(ClusterRoleBinding, { name: "cluster-2-gloomesh-remote-access-clusterrole-binding", namespace: "" }),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
    // What was deleted of it here would be written again by nobody.
    expect(await meshctl("deregister", "cluster-2", "--purge")).toContain("deleted VirtualService bookinfo/reviews");
    expect(await written(second)).toEqual({});
    // It continues with the cluster that is left.
    await ask("8s", [management]);
    expect(await timeoutIn(second)).toBeUndefined();
  });

  it("the management cluster goes over to an agent of its own: nothing is written but what is asked for then", async () => {
    const writes = await writesWhile(async () => {
      await server.app.program.stop();
      await start("mgmt-server-relay", []);
      const { relayAddress } = server;
      // The name is registered: the shared token opens new ones alone.
      const place = ["--cluster", "cluster-1", "--kubeconfig", fleet.servers.management.kubeconfig];
      const token = (await promisify(execFile)(process.execPath, [MESHCTL, "cluster", "token", "create", ...place])).stdout.trim();
      const where = { server: fleet.servers.management, cluster: "cluster-1", relayAddress, directory: fleet.directory };
      const agent = await startAgent({ ...where, more: [`--relay-token=${token}`] });
      apps.push(agent);
      await agent.ready();
      await waitFor("the agent to be connected", () => server.app.program.output().includes("agent of cluster-1 connected"));
      await rest();
      expect(await timeoutIn(management)).toBe("8s");
      await ask("9s", [management]);
      await rest();
    });
    expect(writes["management"]?.map((what) => what.replace(/-[a-z0-9]{12}$/, "-ID"))).toEqual([
      "create secrets gloo-mesh/relay-client-tls-secret",
      // It is good once.
      "delete secrets gloo-mesh/relay-join-token-ID",
      "patch virtualservices bookinfo/reviews",
    ]);
    // What users ask there is read once: by the server, as the management cluster's.
    const policy = await management.get(TrafficPolicy, POLICY);
    expect(Object.keys(policy?.status?.destinations ?? {})).toEqual(["reviews-bookinfo-cluster-1.gloo-mesh."]);
    const input = await (await fetch(`${server.adminUrl}/snapshots/input?cluster=cluster-1`)).text();
    expect(input).toContain('"kind":"Service"');
    expect(input).not.toContain('"kind":"TrafficPolicy"');
  });
});

interface Evidence {
  readonly step: string;
  readonly object: { readonly kind: string; readonly name: string; readonly clusterName: string };
  readonly evidence: { readonly inputs: readonly { readonly name: string }[] };
}

/** What an edit of the policy may change; what only tells of it is in `TELLING`. */
const ROUTES = {
  management: ["patch virtualservices bookinfo/reviews", "patch virtualservices istio-system/reviews-bookinfo-cluster-2"],
  "cluster-2": ["patch virtualservices bookinfo/reviews", "patch virtualservices istio-system/reviews-bookinfo-cluster-1"],
};
const TELLING =
  /^patch (trafficpolicies|virtualmeshes|kubernetesclusters)\/status gloo-mesh\/.*$|^patch destinations\/status gloo-mesh\/reviews-bookinfo-cluster-[12]$/;

function traces(writes: readonly PlaneWrite[]): readonly string[] {
  return [...new Set(writes.map(({ what }) => what))].filter((what) => !TELLING.test(what)).sort();
}
