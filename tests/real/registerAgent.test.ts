import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { KubernetesCluster, Secret, Service, TrafficPolicy, VirtualService } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { itAtNight } from "@isthmus/testing/atNight";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Asked, clockAhead, denying, startAlteredApiServer } from "./harness/alteredApiServer.ts";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { anyKind, CustomResourceDefinition, clusterOf, Namespace } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type FakeKubelet, startFakeKubelet } from "./harness/fakeKubelet.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { startIdleProxy } from "./harness/idleProxy.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { kubectl } from "./harness/kubectl.ts";
import { applyAll, objectsIn } from "./harness/manifests.ts";
import { fillMeshCluster } from "./harness/meshCluster.ts";
import { type Answer, pathWithHelm, runMeshctl, steadyText } from "./harness/meshctl.ts";
import { requestTo } from "./harness/requestTo.ts";
import { waitFor } from "./harness/waitFor.ts";

const namespace = "gloo-mesh";
const REVIEWS = { name: "reviews", namespace: "bookinfo" };
const RBAC = "rbac.authorization.k8s.io/v1";
const ADMISSION = "admissionregistration.k8s.io/v1";
const MADE: readonly Kind[] = [
  Namespace,
  CustomResourceDefinition,
  KubernetesCluster,
  Secret,
  anyKind("v1", "ServiceAccount", "serviceaccounts"),
  anyKind("apps/v1", "Deployment", "deployments"),
  anyKind(RBAC, "ClusterRole", "clusterroles", { namespaced: false }),
  anyKind(RBAC, "ClusterRoleBinding", "clusterrolebindings", { namespaced: false }),
  anyKind(RBAC, "Role", "roles"),
  anyKind(RBAC, "RoleBinding", "rolebindings"),
  anyKind(ADMISSION, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", { namespaced: false }),
  anyKind(ADMISSION, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", { namespaced: false }),
];

type Name = "management" | "east" | "west";

interface Refusal {
  readonly code?: number;
  readonly kubeconfig?: string;
}

/** A gate that did not open in time. */
const LATE: Refusal = { code: 124 };

// One story: each test continues where the one before it ended.
describeReal("a cluster is registered by one command", (components) => {
  let fleet: Fleet<Name>;
  let management: Cluster;
  let east: Cluster;
  let west: Cluster;
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];
  let server: ManagementServer;
  const kubelets: FakeKubelet[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east", "west"], { crds: { management: "all", east: "all" } });
    const { servers, directory } = fleet;
    management = clusterOf(servers.management, "");
    east = clusterOf(servers.east, "east");
    west = clusterOf(servers.west, "west");
    await applyAll(west, [namespaceOf(namespace)]);
    ends.push((await fillMeshCluster(east, components, controllers.signal)).ended);
    await applyAll(management, [namespaceOf(namespace)]);
    server = await startManagementServer({ server: servers.management, directory });
    await server.app.ready();
    await exposed(server.relayAddress);
  });
  afterAll(async () => {
    await Promise.all(kubelets.map((kubelet) => kubelet.stop()));
    await server?.app.program.stop();
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet?.stop();
  });

  /** The Service of the server, with the address that a load balancer would give it. */
  async function exposed(address: string): Promise<void> {
    const [ip = "", port = ""] = address.split(":");
    const metadata = { name: "gloo-mesh-mgmt-server", namespace };
    const spec = { type: "LoadBalancer", ports: [{ name: "grpc", port: Number(port) }] };
    await applyAll(management, [{ apiVersion: "v1", kind: "Service", metadata, spec }]);
    await management.applyStatus(
      { apiVersion: "v1", kind: "Service", metadata, status: { loadBalancer: { ingress: [{ ip }] } } } as AnyResource,
      { fieldManager: "load-balancer", force: true },
    );
    expect((await management.get(Service, metadata))?.status?.loadBalancer?.ingress?.[0]?.ip).toBe(ip);
  }

  /** As a person types it: errors and all. */
  function meshctl(
    cluster: Name,
    args: readonly string[],
    { columns = 120, kubeconfig = fleet.servers[cluster].kubeconfig, managementKubeconfig = fleet.servers.management.kubeconfig } = {},
  ): Promise<Answer> {
    const places = ["--kubeconfig", kubeconfig, "--mgmt-kubeconfig", managementKubeconfig];
    return runMeshctl(["cluster", ...args, ...places], columns, pathWithHelm(components, fleet.directory));
  }

  /** What a user sees, without what differs from run to run, as a golden file (vitest -u writes it). */
  async function seen(name: string, { err }: Answer, columns: number): Promise<void> {
    const { directory, servers } = fleet;
    const addresses = { [server.relayAddress]: "192.0.2.1:19900" };
    const text = steadyText(err, { servers: Object.values(servers), directory, addresses });
    await expect(text).toMatchFileSnapshot(`testdata/registerAgent/${name}.${columns}.txt`);
  }

  /** A command that fails, as it looks on a narrow and on a wide terminal. */
  async function refused(name: string, cluster: Name, args: readonly string[], { code = 2, ...given }: Refusal = {}): Promise<void> {
    for (const columns of [80, 120]) {
      const answer = await meshctl(cluster, args, { columns, ...given });
      await seen(name, answer, columns);
      expect(answer.code).toBe(code);
    }
  }

  const registration = (name: string) => management.get(KubernetesCluster, { name, namespace });
  const joinTokens = async () =>
    (await management.list(Secret, { namespace })).items.filter(({ metadata }) => metadata.name.startsWith("relay-join-token-"));
  const isConnected = async (name: string) =>
    (await registration(name))?.status?.conditions?.some(({ type, status }) => type === "Connected" && status === "True") === true;
  const timeout = async () => (await east.get(VirtualService, REVIEWS))?.spec?.http?.[0]?.timeout;

  /** What stands in a cluster of kinds that registration makes. */
  async function standing(cluster: Cluster): Promise<readonly string[]> {
    const lists = await Promise.all(MADE.map((kind) => cluster.list(kind).catch(() => ({ items: [] }))));
    return lists
      .flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`))
      .filter((name) => !name.includes("system:") && !name.includes("kube-"))
      .sort();
  }

  async function setTimeoutTo(requestTimeout: string): Promise<void> {
    const { apiVersion, kind } = TrafficPolicy;
    const reviews = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } };
    const spec = { destinationSelector: [reviews], policy: { requestTimeout, outlierDetection: {} } };
    await applyAll(management, [{ apiVersion, kind, metadata: { name: "timeout", namespace }, spec }]);
    await waitFor("the route", async () => (await timeout()) === requestTimeout);
  }

  it("refuses an address where nobody answers, before anything is created", async () => {
    const before = await Promise.all([management, east].map(standing));
    await refused("unreachable", "east", ["register", "east", "--relay-server-address", "127.0.0.1:1"]);
    await refused("wrong-authority", "east", ["register", "east", "--relay-authority", "other.example"]);
    expect(await Promise.all([management, east].map(standing))).toEqual(before);
  });

  it("refuses contexts and credentials that are none, and an API server that hangs", async () => {
    const stranger = join(fleet.directory, "stranger");
    writeFileSync(stranger, fleet.servers.east.strangerKubeconfig);
    await refused("no-rights", "east", ["register", "east"], { kubeconfig: stranger });
    await refused("no-context", "east", ["register", "east", "--remote-context", "nowhere", "--mgmt-context", "test"]);
    await refused("bad-name", "east", ["register", "East.1"]);
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const hanging = join(fleet.directory, "hanging");
    const text = readFileSync(fleet.servers.east.kubeconfig, "utf8");
    writeFileSync(hanging, text.replace(fleet.servers.east.url, `https://127.0.0.1:${(silent.address() as AddressInfo).port}`));
    const answer = await meshctl("east", ["register", "east"], { kubeconfig: hanging });
    silent.close();
    expect(answer.code).toBe(2);
    expect(answer.err).toMatch(
      /^error: cluster east: (cannot reach|the API server does not answer within 15 s).* \(check the server address/,
    );
  });

  it("undoes all that it made when a gate does not open: --rollback", async () => {
    const before = await Promise.all([management, west].map(standing));
    await refused("rollback", "west", ["register", "west", "--timeout", "2s", "--rollback"], LATE);
    expect(await Promise.all([management, west].map(standing))).toEqual(before);
    await refused("no-pods", "west", ["register", "west", "--timeout", "2s"], LATE);
    expect((await standing(west)).length).toBeGreaterThan(before[1]?.length ?? 0);
    // What a run that failed has left, the next one undoes, too.
    await refused("rollback-later", "west", ["register", "west", "--timeout", "2s", "--rollback"], LATE);
    expect(await Promise.all([management, west].map(standing))).toEqual(before);
  });

  /** In place of a namespace controller: a namespace that is being deleted goes. */
  async function finish(name: string): Promise<void> {
    const found = await west.get(Namespace, { name, namespace: "" });
    expect(found?.metadata, name).toHaveProperty("deletionTimestamp");
    await requestTo(fleet.servers.west, "PUT", `/api/v1/namespaces/${name}/finalize`, { ...found, spec: { finalizers: [] } });
  }

  it("undoes all that it made, the namespace too, when the cluster refuses a part of it: --rollback", async () => {
    const before = await Promise.all([management, west].map(standing));
    const isDeployment = ({ method, path }: Asked) => method === "PATCH" && path.includes("/deployments/");
    const webhook = 'admission webhook "policy.example" denied the request: images must be signed';
    const { kubeconfig, close } = await startAlteredApiServer(fleet.servers.west, "denying", denying(isDeployment, webhook));
    const args = ["register", "west", "--remote-namespace", "fresh"];
    for (const columns of [80, 120]) {
      const first = await meshctl("west", args, { kubeconfig });
      expect(first.err).toContain("To take back what was created:\n  meshctl cluster deregister west");
      // Also what the run before has left.
      const answer = await meshctl("west", [...args, "--rollback"], { kubeconfig, columns });
      await seen("denied", answer, columns);
      expect([first.code, answer.code]).toEqual([2, 2]);
      await finish("fresh");
      expect(await Promise.all([management, west].map(standing))).toEqual(before);
    }
    await close();
  });

  itAtNight("says that clocks differ, and makes a token by the clock of the management cluster", async () => {
    const before = await Promise.all([management, west].map(standing));
    const behind = await startAlteredApiServer(fleet.servers.west, "behind", clockAhead(-7_200_000));
    const args = ["register", "west", "--timeout", "2s", "--rollback"];
    await refused("clock-behind", "west", args, { ...LATE, kubeconfig: behind.kubeconfig });
    const ahead = await startAlteredApiServer(fleet.servers.management, "ahead", clockAhead(7_200_000));
    const answer = await meshctl("west", args, { managementKubeconfig: ahead.kubeconfig });
    expect(answer.err).toMatch(
      /^warning: the clock of this cluster's API server is 7(199|200|201) s behind that of the management cluster: /,
    );
    const [, until = ""] = /valid once until (\S+Z)/.exec(answer.err.replace(/\s+/g, " ")) ?? [];
    expect(Math.abs(Date.parse(until) - Date.now() - 7_200_000 - 900_000)).toBeLessThan(30_000);
    expect(await Promise.all([management, west].map(standing))).toEqual(before);
    await Promise.all([behind.close(), ahead.close()]);
  });

  itAtNight("does not try an address that only the cluster reaches: --no-probe", async () => {
    const before = await Promise.all([management, west].map(standing));
    const elsewhere = ["--relay-server-address", "127.0.0.1:1", "--no-probe"];
    await refused("no-probe", "west", ["register", "west", ...elsewhere, "--timeout", "2s", "--rollback"], LATE);
    expect(await Promise.all([management, west].map(standing))).toEqual(before);
  });

  it("passes all gates, and the cluster is connected", async () => {
    kubelets.push(startFakeKubelet({ server: fleet.servers.east, cluster: east, directory: fleet.directory }));
    const answer = await meshctl("east", ["register", "east", "--timeout", "45s"], { columns: 80 });
    await seen("registered", answer, 80);
    expect(answer.code).toBe(0);
    const found = await registration("east");
    expect(found?.metadata.annotations ?? {}).toEqual({});
    expect(await isConnected("east")).toBe(true);
    expect(await joinTokens()).toEqual([]);
    expect(fleet.servers.east.planeRefusals()).toEqual([]);
    await setTimeoutTo("2s");
  });

  it("changes nothing when it is repeated", async () => {
    const deployments = () => east.list(anyKind("apps/v1", "Deployment", "deployments"), { namespace });
    const before = (await deployments()).items.map(({ metadata }) => metadata.generation);
    const answer = await meshctl("east", ["register", "enterprise", "east", "--timeout", "45s"]);
    await seen("registered-again", answer, 120);
    expect(answer.code).toBe(0);
    expect((await deployments()).items.map(({ metadata }) => metadata.generation)).toEqual(before);
    expect(await joinTokens()).toEqual([]);
  });

  it("has values of its user by Helm: nothing of them is forgotten, and what only they ask for goes with them", async () => {
    const registerEast = (...more: readonly string[]) =>
      meshctl("east", ["register", "east", "--timeout", "45s", ...more], { columns: 400 });
    const roles = async () => (await standing(east)).filter((name) => name.includes("gloo-mesh-agent-writes"));
    for (const [wrong, message] of [
      ["relay.cluster=west", "give relay.cluster another value than this registration"],
      ["legacyNames=true", "there is no Deployment gloo-mesh/gloo-mesh-agent"],
      ["mode=standard", "Helm refuses these values: relay.serverAddress has no effect with mode: standard"],
      ["relay.tokenSecret.name=other", "have relay.tokenSecret"],
      ["limits.nothing=1", "Helm refuses these values: "],
    ] as const) {
      const before = await standing(east);
      expect(await registerEast("--set", wrong)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
      expect(await standing(east)).toEqual(before);
    }
    const file = join(fleet.directory, "values.yaml");
    writeFileSync(file, "limits: { writeNamespaces: [bookinfo] }\npodLabels: { team: mesh }\n");
    const given = ["--values", file, "--set", "limits.deleteBudget.percent=7"];
    const first = await registerEast(...given);
    expect(first.code, first.err).toBe(0);
    expect(first.err).toContain("objects of the chart with your values");
    expect(await roles()).toEqual(["Role bookinfo/gloo-mesh-agent-writes", "RoleBinding bookinfo/gloo-mesh-agent-writes"]);
    // Values take nothing away that limits the agent.
    expect((await standing(east)).filter((name) => name.includes("gloo-mesh-agent-secrets"))).toHaveLength(2);
    expect(first.err).not.toContain("deleted ValidatingAdmissionPolicy");
    const deployment = await east.get(anyKind("apps/v1", "Deployment", "deployments"), { name: "gloo-mesh-agent", namespace });
    expect(JSON.stringify(deployment)).toContain('"--delete-budget-percent=7"');
    const forgetful = await registerEast();
    expect(forgetful).toMatchObject({ code: 2, err: expect.stringContaining("pass its --values and --set again, or --reset-values") });
    expect((await registerEast("--dry-run", "--reset-values")).err).toContain("bookinfo/gloo-mesh-agent-writes");
    expect(await roles()).toHaveLength(2);
    expect(fleet.servers.east.planeRefusals()).toEqual([]);
    // All of it goes with the agent, too.
    expect((await meshctl("east", ["deregister", "east"])).code).toBe(0);
    expect((await standing(east)).filter((name) => /agent|relay-/.test(name))).toEqual([]);
    expect((await registerEast(...given)).code).toBe(0);
    const reset = await registerEast("--reset-values");
    expect(reset.code, reset.err).toBe(0);
    expect(reset.err).toContain("deleted RoleBinding bookinfo/gloo-mesh-agent-writes");
    expect(await roles()).toEqual([]);
  });

  it("refuses a name that another cluster has, and another name for this one", async () => {
    await refused("name-taken", "west", ["register", "east"]);
    await refused("other-name", "east", ["register", "north"]);
    await refused("deregister-other", "west", ["deregister", "east"]);
  });

  it("an agent that was deregistered stops writing by itself", async () => {
    const answer = await meshctl("east", ["deregister", "east", "--force"]);
    await seen("deregistered-dead", answer, 120);
    expect(answer.code).toBe(0);
    const agent = kubelets[0]?.agents.at(-1);
    await waitFor("the agent to be told", () => agent?.program.output().includes("this cluster was deregistered") === true);
    const route = await east.get(VirtualService, REVIEWS);
    const http = route?.spec?.http?.map((one) => ({ ...one, timeout: "9s" })) ?? [];
    await applyAll(east, [{ ...route, metadata: { ...REVIEWS }, spec: { ...route?.spec, http } } as AnyResource]);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await timeout()).toBe("9s");
    expect(agent?.program.isRunning).toBe(true);
  });

  it("is registered again, with the agent that is still there", async () => {
    const answer = await meshctl("east", ["register", "east", "--timeout", "45s"]);
    await seen("registered-after-deregistration", answer, 120);
    expect(answer.code).toBe(0);
    await waitFor("drift to be restored", async () => (await timeout()) === "2s");
  });

  it("deregisters: what belongs to the plane goes, the mesh configuration stays; what is not there is no error", async () => {
    const answer = await meshctl("east", ["deregister", "east"]);
    await seen("deregistered", answer, 120);
    expect(answer.code).toBe(0);
    expect(await registration("east")).toBeUndefined();
    expect((await standing(east)).filter((name) => /agent|relay-/.test(name))).toEqual([]);
    expect(await timeout()).toBe("2s");
  });

  it("purges the mesh configuration once the agent's pod has ended, and not before", async () => {
    const metadata = { name: "agent-that-ends", namespace, labels: { app: "gloo-mesh-agent" } };
    const spec = { containers: [{ name: "agent", image: "agent" }], nodeName: "node", terminationGracePeriodSeconds: 0 };
    await applyAll(east, [{ apiVersion: "v1", kind: "Pod", metadata, spec } as AnyResource]);
    let isOver = false;
    const purging = meshctl("east", ["deregister", "east", "--purge"]).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect({ isOver, timeout: await timeout() }).toEqual({ isOver: false, timeout: "2s" });
    await east.delete({ apiVersion: "v1", kind: "Pod", name: metadata.name, namespace, clusterName: "east" });
    const answer = await purging;
    await seen("purged", answer, 120);
    expect(answer.code, answer.err).toBe(0);
    expect(await timeout()).toBeUndefined();
  });

  it("refuses a Secret with a wrong token that somebody put there, and takes the shared one", async () => {
    const copied = async (token: string) =>
      applyAll(west, [
        namespaceOf(namespace),
        { apiVersion: "v1", kind: "Secret", metadata: { name: "relay-identity-token-secret", namespace }, data: { token } } as AnyResource,
      ]);
    await copied(btoa("not the token of this management plane"));
    await refused("wrong-token", "west", ["register", "west"]);
    const shared = await management.get(Secret, { name: "relay-identity-token-secret", namespace });
    await copied(shared?.data?.["token"] ?? "");
    await refused("shared-token-mode", "west", ["register", "west", "--mode", "observe"]);
    kubelets.push(startFakeKubelet({ server: fleet.servers.west, cluster: west, directory: fleet.directory }));
    const answer = await meshctl("west", ["register", "west", "--timeout", "45s"], { columns: 80 });
    await seen("shared-token", answer, 80);
    expect(answer.code).toBe(0);
    expect((await meshctl("west", ["deregister", "west"])).code).toBe(0);
    const kept = await west.get(Secret, { name: "relay-identity-token-secret", namespace });
    expect(kept?.data).toEqual(shared?.data);
    await west.delete({ apiVersion: "v1", kind: "Secret", name: "relay-identity-token-secret", namespace, clusterName: "west" });
  });

  it("works over IPv6, through a proxy that ends idle connections, and twice at once", async () => {
    const proxy = await startIdleProxy("::1", server.relayAddress, 15_000);
    const args = ["register", "west", "--timeout", "60s", "--relay-server-address", proxy.address];
    const answers = await Promise.all([meshctl("west", args), meshctl("west", args)]);
    expect(
      answers.map(({ code }) => code),
      answers.map(({ err }) => err).join(),
    ).toEqual([0, 0]);
    await new Promise((resolve) => setTimeout(resolve, 17_000));
    expect(await isConnected("west")).toBe(true);
    for (const answer of answers) expect(answer.err).toContain("Cluster west is registered.");
    const again = await meshctl("west", args, { columns: 80 });
    await seen("registered-over-ipv6", again, 80);
    expect((await meshctl("west", ["deregister", "west"])).code).toBe(0);
    await proxy.close();
  });

  itAtNight("one of two clusters that are registered under one name at once is refused", async () => {
    const args = ["register", "both", "--timeout", "90s"];
    // Until the second has been refused, the first is registering.
    kubelets[1]?.hold(true);
    const first = meshctl("west", args);
    await waitFor("the first to have the name", async () => (await registration("both")) !== undefined);
    await refused("registering", "east", [...args, "--rollback"]);
    kubelets[1]?.hold(false);
    const answer = await first;
    expect(answer.code, answer.err).toBe(0);
    await refused("name-taken-by-then", "east", args);
    expect((await meshctl("west", ["deregister", "both"])).code).toBe(0);
  });

  itAtNight("waits for an agent that does not reach the server, and says so", async () => {
    const elsewhere = ["--relay-server-address", "127.0.0.1:1", "--no-probe"];
    await refused("no-certificate", "west", ["register", "west", ...elsewhere, "--timeout", "30s", "--rollback"], LATE);
    expect(await registration("west")).toBeUndefined();
  });

  it("prints what to paste on the other side, and what to commit", async () => {
    const committed = await meshctl("west", ["register", "west", "--print-gitops"]);
    await seen("print-gitops", committed, 120);
    expect(committed.out).not.toContain("isthmus-join");
    expect(await registration("west")).toBeUndefined();
    const { out, ...answer } = await meshctl("west", ["register", "west", "--print-join"]);
    await seen("print-join", { out, ...answer }, 120);
    const manifest = out.split("\n").slice(1, -2).join("\n");
    const list = { apiVersion: "v1", kind: "List", items: objectsIn(manifest) };
    const applied = await kubectl(
      { components, server: fleet.servers.west },
      ["apply", "--server-side", "--field-manager=meshctl", "-f", "-"],
      list,
    );
    expect(applied.code, applied.stderr).toBe(0);
    await waitFor("west to be connected", () => isConnected("west"));
    expect((await meshctl("west", ["deregister", "west"])).code).toBe(0);
    expect((await standing(west)).filter((name) => /agent|relay-/.test(name))).toEqual([]);
  });
});
