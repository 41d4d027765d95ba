import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  AppMesh,
  computedKinds,
  Destination,
  KubernetesCluster,
  Mesh,
  PodBounceDirective,
  Secret,
  Settings,
  TrafficPolicy,
  VirtualMesh,
  VirtualService,
  Workload,
} from "@isthmus/api";
import { createRoot } from "@isthmus/certificates";
import { type AnyResource, groupOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ciliumCrds, ciliumInstallation } from "../cilium/engine.ts";
import { anyKind, clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { type ChartValues, helm } from "../harness/helm.ts";
import { namespace as namespaceOf } from "../harness/istioInstallation.ts";
import { kubectl } from "../harness/kubectl.ts";
import { anyFieldsCrd, applyAll, installCrds, kubernetesProjectCrds, objectsIn } from "../harness/manifests.ts";
import { fillIstioCluster, fillMeshCluster } from "../harness/meshCluster.ts";
import { osmCrds, osmInstallation } from "../harness/osmInstallation.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { tokenFor } from "../harness/serviceAccount.ts";
import { waitFor } from "../harness/waitFor.ts";
import { grantedVerbs, rightsAreUsed, rightsIn, rightsOnNamed, tryRefused } from "./accountRights.ts";
import { exerciseEveryKind } from "./everyKind.ts";
import { agentRights, agentSecretRights, meshSecretRights, type Rights, serverRights } from "./expectedRights.ts";
import { accountKubeconfig, type InstalledProgram, isServing, startInstalled } from "./installedProgram.ts";
import { handOut, leaveOwnAuthority } from "./istiodRoots.ts";
import { namespace, release, secret, upgrade } from "./release.ts";

const MESHCTL = fileURLToPath(new URL("../../../apps/meshctl/bin/meshctl.js", import.meta.url));
const PASSWORD = "a-password-of-redis";
const Lease = anyKind("coordination.k8s.io/v1", "Lease", "leases");
const Event = anyKind("v1", "Event", "events");

const trusting = {
  apiVersion: VirtualMesh.apiVersion,
  kind: VirtualMesh.kind,
  metadata: { name: "trusting", namespace },
  spec: {
    meshes: [{ name: "istiod-istio-system-east", namespace }],
    mtlsConfig: {
      shared: {
        rootCertificateAuthority: { generated: { rsaKeySizeBytes: 2048 } },
        intermediateCertOptions: { rsaKeySizeBytes: 2048 },
      },
      autoRestartPods: true,
    },
  },
} as unknown as AnyResource;

/** Rights that this story cannot make the programs use, and why. */
const UNUSED: Readonly<Record<"management" | "east", Readonly<Record<string, string>>>> = {
  management: {},
  east: { "apimanagement.gloo.solo.io/apidocs create": "server-side apply of a new object needs it, and is a patch in the audit log" },
};

// One story: each test continues where the one before it ended.
describeReal("charts that are installed with Helm, their programs with the tokens of their accounts", (components) => {
  let fleet: Fleet<"management" | "east" | "west">;
  let management: Cluster;
  let east: Cluster;
  let west: Cluster;
  let redis: RealRedis;
  let servers: readonly InstalledProgram[] = [];
  let agent: InstalledProgram;
  let serverValues: ChartValues;
  let agentValues: ChartValues;
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];
  const running: InstalledProgram[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east", "west"], { crds: { east: "all" } });
    management = clusterOf(fleet.servers.management, "");
    east = clusterOf(fleet.servers.east, "east");
    west = clusterOf(fleet.servers.west, "west");
    redis = await startRedis(components.redis, `${fleet.directory}/redis`, { password: PASSWORD });
    ends.push((await fillMeshCluster(east, components, controllers.signal)).ended);
    await installCrds(east, [
      ...osmCrds(components, { own: true }),
      ...ciliumCrds(components),
      anyFieldsCrd(AppMesh),
      ...kubernetesProjectCrds(),
    ]);
    await applyAll(east, [...osmInstallation(), ciliumInstallation()]);
    serverValues = {
      replicas: 2,
      serviceType: "ClusterIP",
      redis: { deployment: { enabled: false }, address: `127.0.0.1:${redis.settings.port}`, auth: { enabled: true } },
    };
  });
  afterAll(async () => {
    await Promise.all(running.map(({ program }) => program.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await redis?.stop();
    await fleet?.stop();
  });

  const target = (name: "management" | "east" | "west") => ({ components, server: fleet.servers[name], directory: fleet.directory });

  async function startServers(): Promise<void> {
    const options = { server: fleet.servers.management, namespace, deployment: "gloo-mesh-mgmt-server", directory: fleet.directory };
    const started = ["mgmt-server-0", "mgmt-server-1"].map((pod) =>
      startInstalled({ ...options, bin: "mgmt-server/bin/mgmt-server.js", pod, here: ([port]) => ["--host=127.0.0.1", `--port=${port}`] }),
    );
    servers = await Promise.all(started);
    running.push(...servers);
    await Promise.all(servers.map((server) => isServing(server, "/readyz")));
  }

  async function startAgent(name: "east" | "west" = "east"): Promise<InstalledProgram> {
    const started = await startInstalled({
      server: fleet.servers[name],
      namespace,
      deployment: "gloo-mesh-agent",
      bin: "agent/bin/agent.js",
      pod: `agent-of-${name}`,
      directory: fleet.directory,
      here: () => [],
    });
    running.push(started);
    await isServing(started, "/readyz");
    return started;
  }

  async function isConnected(name: string): Promise<void> {
    await waitFor(`${name} to be connected`, async () => {
      const found = await management.get(KubernetesCluster, { name, namespace });
      return found?.status?.conditions?.find(({ type }) => type === "Connected")?.status === "True";
    });
  }

  function policy(name: string, requestTimeout: string, service = "reviews"): AnyResource {
    const { apiVersion, kind } = TrafficPolicy;
    const selector = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: service } } };
    return {
      apiVersion,
      kind,
      metadata: { name, namespace },
      spec: { destinationSelector: [selector], policy: { requestTimeout } },
    } as unknown as AnyResource;
  }

  const timeoutOf = async (name: string) => (await east.get(VirtualService, { name, namespace: "bookinfo" }))?.spec?.http?.[0]?.timeout;

  /** What meshctl prints of the management cluster. */
  async function meshctl(...args: readonly string[]): Promise<string> {
    const kubeconfig = `--kubeconfig=${fleet.servers.management.kubeconfig}`;
    return (await promisify(execFile)(process.execPath, [MESHCTL, "cluster", ...args, kubeconfig])).stdout;
  }

  /** As an operator registers the cluster: with a token that is valid once. */
  async function copySecrets(cluster: Cluster, name: string): Promise<void> {
    await applyAll(cluster, objectsIn(await meshctl("token", "create", `--cluster=${name}`, "--ttl=30m", "--manifest")));
  }

  it("are installed, and their programs start: the server makes its Secrets, the agent joins", async () => {
    await release(target("management"), "gloo-mesh-crds");
    await applyAll(management, [secret("redis-auth-secrets", { password: PASSWORD })]);
    await release(target("management"), "gloo-mesh-mgmt-server", serverValues);
    await startServers();
    await copySecrets(east, "east");
    const serverAddress = servers[0]?.relayAddress ?? "";
    agentValues = {
      relay: { cluster: "east", serverAddress },
      leaderElection: true,
      meshCertificates: { namespaces: ["istio-system"], restartPods: true },
    };
    await release(target("east"), "gloo-mesh-agent", agentValues);
    agent = await startAgent();
    await isConnected("east");
    for (const cluster of [management, east]) expect((await cluster.list(Lease, { namespace })).items).toHaveLength(1);
  });

  it("read, write, delete and answer users, and are refused nothing", async () => {
    await applyAll(management, [policy("timeout", "2s")]);
    await applyAll(east, [policy("there", "4s", "ratings")]);
    await waitFor("the routes", async () => (await timeoutOf("reviews")) === "2s" && (await timeoutOf("ratings")) === "4s");
    for (const [cluster, name] of [
      [management, "timeout"],
      [east, "there"],
    ] as const) {
      await waitFor(
        `the status of ${name}`,
        async () => (await cluster.get(TrafficPolicy, { name, namespace }))?.status?.state === "ACCEPTED",
      );
    }
    await applyAll(management, [policy("timeout", "3s")]);
    await waitFor("the new timeout", async () => (await timeoutOf("reviews")) === "3s");
    const { apiVersion, kind } = TrafficPolicy;
    await management.delete({ apiVersion, kind, name: "timeout", namespace, clusterName: "" });
    await waitFor("the route to be deleted", async () => (await timeoutOf("reviews")) === undefined);
    // What begins while a cluster becomes known is perhaps nothing new and has no Event; insights are made once a second.
    await sleep(3_000);
    await applyAll(management, [policy("nobody", "2s", "reveiws")]);
    const described = await waitFor("an Event on a policy that selects nothing", async () => {
      const { items } = await management.list(Event, { namespace });
      const found = items.some((item) => (item as { involvedObject?: { name?: string } }).involvedObject?.name === "nobody");
      return found
        ? kubectl({ components, server: fleet.servers.management }, ["describe", "trafficpolicy", "nobody", "-n", namespace])
        : undefined;
    });
    expect(described.stdout).toMatch(/Warning\s+RTE1002\s.*gloo-mesh-mgmt-server/);
    for (const [server, cluster, { adminUrl } = agent] of [
      [fleet.servers.management, management, servers[0]],
      [fleet.servers.east, east, agent],
    ] as const) {
      await applyAll(cluster, [{ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "reader", namespace: "default" } }]);
      const token = await tokenFor(server, "reader", ["gloo-mesh-admin"]);
      // As through a proxy: a request from this machine would need no token.
      const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "10.0.0.1" };
      expect((await fetch(`${adminUrl}/evidence`, { headers })).status).toBe(403);
    }
    const deleted = fleet.servers.management
      .planeWrites()
      .filter(({ what }) => what.startsWith("delete secrets gloo-mesh/relay-join-token"));
    expect(deleted).toHaveLength(1);
    for (const server of [fleet.servers.management, fleet.servers.east]) {
      expect(server.planeRefusals()).toEqual([]);
      expect(server.planeWrites().filter(({ code }) => code < 300).length).toBeGreaterThan(3);
    }
  });

  it("bring a mesh below a root: its Secrets are made and changed by the rights of the chart", async () => {
    const namespaces = ["istio-system", "bookinfo"];
    await leaveOwnAuthority(east, namespaces);
    await applyAll(management, [trusting]);
    await changeRestarts();
    const isBelowRoot = async () => {
      const cacerts = await east.get(Secret, { name: "cacerts", namespace: "istio-system" });
      if (cacerts === undefined) return false;
      await handOut(east, atob(cacerts.data?.["root-cert.pem"] ?? ""), namespaces);
      return (atob(cacerts.data?.["cert-chain.pem"] ?? "").match(/BEGIN CERTIFICATE/g) ?? []).length === 2;
    };
    await waitFor("a CA below the root", isBelowRoot, { timeoutMs: 180_000, everyMs: 1_000 });
    expect(fleet.servers.east.planeVerbs()).toContain("/pods/eviction create");
    await waitFor("the key to be nowhere else", async () => {
      const keys = await east.get(Secret, { name: "mesh-certificate-keys", namespace });
      return keys !== undefined && Object.keys(keys.data ?? {}).length === 0;
    });
    expect(fleet.servers.east.planeRefusals()).toEqual([]);
  });

  /** Lets a workload come and go while restarts are ordered: pods alone come and go without a change of what is ordered. */
  async function changeRestarts(): Promise<void> {
    await waitFor("the restarts", async () => (await east.list(PodBounceDirective)).items.length > 0);
    const labels = { app: "late", "sidecar.istio.io/inject": "true" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "late:1" }] } };
    const late = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "late", namespace: "bookinfo" } };
    await applyAll(east, [{ ...late, spec: { replicas: 0, selector: { matchLabels: { app: "late" } }, template } }]);
    await waitFor("them to change", async () =>
      fleet.servers.east.planeVerbs().includes("certificates.mesh.gloo.solo.io/podbouncedirectives patch"),
    );
    await east.delete({ apiVersion: late.apiVersion, kind: late.kind, ...late.metadata, clusterName: "east" });
  }

  it.each(["management", "east"] as const)("in %s: each verb that is left out is refused, on everything that is served", async (name) => {
    const account = { name: name === "east" ? "gloo-mesh-agent" : "gloo-mesh-mgmt-server", namespace };
    const { everywhere, own }: Rights = name === "east" ? agentRights() : serverRights();
    const server = fleet.servers[name];
    const cluster = name === "east" ? east : management;
    const asked = { server, cluster, kubeconfig: await accountKubeconfig(server, fleet.directory, account) };
    const served = new Set((await cluster.servedKinds()).map(resourceOf));
    // Kinds that nobody has installed here are not asked for.
    const sorted = (rights: readonly string[]) =>
      [...new Set(rights)].filter((right) => served.has(right.replace(/(\/status|\/eviction)? .*/, ""))).sort();
    const inOther = await rightsIn(asked, "bookinfo");
    expect(inOther.asked).toBeGreaterThan(400);
    expect(inOther.allowed).toEqual(sorted(everywhere));
    expect((await rightsIn(asked, namespace)).allowed).toEqual(sorted([...everywhere, ...own]));
    if (name === "east") expect((await rightsIn(asked, "istio-system")).allowed).toEqual(sorted([...everywhere, "/secrets create"]));
  });

  it("the agent may read the Secrets that it uses, and none of the keys of a server", async () => {
    const account = { name: "gloo-mesh-agent", namespace };
    const kubeconfig = await accountKubeconfig(fleet.servers.east, fleet.directory, account);
    const names = (await management.list(Secret, { namespace })).items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(["relay-tls-signing-secret", "relay-generated-identity-secret"]));
    const asked = { server: fleet.servers.east, cluster: east, kubeconfig };
    const ours = ["relay-client-tls-secret", "mesh-certificate-keys", ...names];
    const allowed = await rightsOnNamed(asked, { resource: "secrets", namespace, names: ours });
    // To create one is no right to anything that exists, and no role limits it to a name: the case below is about that.
    const [created, others] = [allowed.filter((right) => right.endsWith(" create")), allowed.filter((right) => !right.endsWith(" create"))];
    expect(created).toHaveLength(new Set(ours).size);
    expect(others).toEqual([...agentSecretRights].sort());
    const ofMesh = { resource: "secrets", namespace: "istio-system", names: ["cacerts", "istio-ca-secret", "another"] };
    expect((await rightsOnNamed(asked, ofMesh)).filter((right) => !right.endsWith(" create"))).toEqual([...meshSecretRights].sort());
    const elsewhere = { resource: "configmaps", namespace: "bookinfo", names: ["istio-ca-root-cert", "another"] };
    expect((await rightsOnNamed(asked, elsewhere)).filter((right) => right.endsWith(" get"))).toEqual(["istio-ca-root-cert get"]);
  });

  /** A digest of what each Secret holds, without the records of Helm. */
  async function fingerprints(cluster: Cluster): Promise<Readonly<Record<string, string>>> {
    const Raw = anyKind("v1", "Secret", "secrets");
    const { items } = await cluster.list(Raw, { namespace });
    const ours = items.filter(({ metadata }) => !metadata.name.startsWith("sh.helm.release."));
    return Object.fromEntries(
      ours.map((secret) => [
        secret.metadata.name,
        createHash("sha256")
          .update(JSON.stringify([secret["data"], secret.metadata.uid]))
          .digest("hex"),
      ]),
    );
  }

  it("are upgraded twice, with other values: every Secret stays as it is, and the agent connected", async () => {
    const before = [await fingerprints(management), await fingerprints(east)];
    expect(Object.keys(before[0] ?? {})).toEqual(
      expect.arrayContaining([
        "relay-root-tls-secret",
        "relay-tls-signing-secret",
        "relay-server-tls-secret",
        "relay-identity-token-secret",
      ]),
    );
    expect(Object.keys(before[1] ?? {})).toContain("relay-client-tls-secret");
    const changes = [
      { verbose: true, resources: { limits: { memory: "3Gi" } } },
      { podLabels: { upgraded: "twice" }, networkPolicy: { enabled: false } },
    ];
    for (const change of changes) {
      await upgrade(target("management"), "gloo-mesh-crds");
      await upgrade(target("management"), "gloo-mesh-mgmt-server", change);
      await Promise.all(servers.map(({ program }) => program.stop()));
      await startServers();
      // Of the values of before only the address of the server is another.
      await upgrade(target("east"), "gloo-mesh-agent", { relay: { serverAddress: servers[0]?.relayAddress ?? "" }, ...change });
      await agent.program.stop();
      agent = await startAgent();
      await applyAll(management, [policy("timeout", `${changes.indexOf(change) + 5}s`)]);
      await waitFor("the route", async () => (await timeoutOf("reviews")) === `${changes.indexOf(change) + 5}s`);
      expect([await fingerprints(management), await fingerprints(east)]).toEqual(before);
    }
    for (const name of ["gloo-mesh-mgmt-server", "gloo-mesh-agent"] as const) {
      const { stdout } = await helm(target(name === "gloo-mesh-agent" ? "east" : "management"), [
        "get",
        "values",
        name,
        `--namespace=${namespace}`,
        "--output=json",
      ]);
      // What the first upgrade set is still so after the second.
      expect(JSON.parse(stdout)).toMatchObject({ verbose: true, podLabels: { upgraded: "twice" } });
    }
    for (const server of [fleet.servers.management, fleet.servers.east]) expect(server.planeRefusals()).toEqual([]);
    expect(await east.get(Secret, { name: "relay-client-tls-secret", namespace })).toBeDefined();
  });

  it("follow what is discovered: a Service that comes, changes and goes", async () => {
    const metadata = { name: "late", namespace: "bookinfo" };
    const service = (port: number): AnyResource =>
      ({
        apiVersion: "v1",
        kind: "Service",
        metadata,
        spec: { selector: { app: "ratings" }, ports: [{ name: "http", port }] },
      }) as AnyResource;
    const ports = async () => {
      const found = await management.get(Destination, { name: "late-bookinfo-east", namespace });
      return found?.spec?.kubeService?.ports?.map(({ port }) => port);
    };
    for (const port of [9080, 9081, 9082]) {
      await applyAll(east, [service(port)]);
      await waitFor(`its Destination with port ${port}`, async () => (await ports())?.includes(port) === true);
    }
    await east.delete({ apiVersion: "v1", kind: "Service", ...metadata, clusterName: "" });
    await waitFor("its Destination to go", async () => (await ports()) === undefined);
  });

  it("renew the certificate of an agent whose server has a new root", async () => {
    const certificate = async () => (await east.get(Secret, { name: "relay-client-tls-secret", namespace }))?.data?.["tls.crt"];
    const before = await certificate();
    const place = { name: "relay-root-tls-secret", namespace };
    const root = Buffer.from((await management.get(Secret, place))?.data?.["ca.crt"] ?? "", "base64").toString();
    const next = await createRoot({ commonName: "next", now: Date.now() });
    await applyAll(management, [secret(place.name, { "ca.crt": `${root.trim()}\n${next.certificate}` })]);
    // It hears of them when it connects.
    await agent.program.stop();
    agent = await startAgent();
    await waitFor("the next certificate", async () => (await certificate()) !== before);
  });

  it("register a new name with the shared token, and a cluster in place of one that is lost", async () => {
    const relay = { serverAddress: servers[0]?.relayAddress ?? "" };
    await release(target("west"), "gloo-mesh-crds");
    await applyAll(west, [namespaceOf(namespace), ...objectsIn(await meshctl("token", "shared"))]);
    await release(target("west"), "gloo-mesh-agent", { relay: { ...relay, cluster: "west" } });
    const first = await startAgent("west");
    await isConnected("west");
    await first.program.stop();
    const { apiVersion, kind } = KubernetesCluster;
    await management.delete({ apiVersion, kind, name: "west", namespace, clusterName: "" });
    await west.delete({ apiVersion: "v1", kind: "Secret", name: "relay-client-tls-secret", namespace, clusterName: "" });
    const lost = { apiVersion, kind, metadata: { name: "lost", namespace } };
    await applyAll(management, [{ ...lost, spec: {} } as AnyResource]);
    await management.applyStatus({ ...lost, status: { clusterUid: "gone" } } as AnyResource, {
      fieldManager: "gloo-mesh-registration-gone",
    });
    await meshctl("replace", "lost");
    await copySecrets(west, "lost");
    await release(target("west"), "gloo-mesh-agent", { relay: { ...relay, cluster: "lost" } });
    const second = await startAgent("west");
    await isConnected("lost");
    await second.program.stop();
    for (const server of Object.values(fleet.servers)) expect(server.planeRefusals()).toEqual([]);
  });

  it("write each kind that is delivered, change it and delete it, beside another mesh", async () => {
    ends.push((await fillIstioCluster(west, components, controllers.signal)).ended);
    const other = await startAgent("west");
    await isConnected("lost");
    await waitFor("its mesh", async () => (await management.get(Mesh, meshOf("lost"))) !== undefined);
    const { east: server } = fleet.servers;
    // Without the shared root: its certificates, and the restarts that come with them, are withdrawn.
    const virtualMesh = (more: object): AnyResource => {
      const { spec: _, ...rest } = trusting;
      return { ...rest, spec: { ...more, meshes: ["east", "lost"].map(meshOf) } };
    };
    await exerciseEveryKind({
      management,
      cluster: "east",
      workload: east,
      server,
      hasAgent: true,
      except: [...computedKinds(), PodBounceDirective],
      virtualMesh,
    });
    await waitFor("the restarts to be withdrawn", async () => (await east.list(PodBounceDirective)).items.length === 0);
    await discoverChanges();
    await other.program.stop();
    for (const { planeRefusals } of Object.values(fleet.servers)) expect(planeRefusals()).toEqual([]);
  });

  const meshOf = (cluster: string) => ({ name: `istiod-istio-system-${cluster}`, namespace });

  /** Lets the mesh of the other cluster and a workload there change twice, and the mesh go: what is created is turned into what is applied first. */
  async function discoverChanges(): Promise<void> {
    const inWest = async (...args: readonly string[]) => {
      const { code, stderr } = await kubectl({ components, server: fleet.servers.west }, args);
      expect(code, stderr).toBe(0);
    };
    const workload = { name: "details-v1-bookinfo-lost-deployment", namespace };
    for (const step of [0, 1]) {
      const image = `docker.io/istio/pilot:1.30.${step}`;
      await inWest("set", "image", "deployment/istiod", `discovery=${image}`, "--namespace=istio-system");
      const labels = { spec: { template: { metadata: { labels: { step: `${step}` } } } } };
      await inWest("patch", "deployment", "details-v1", "--namespace=bookinfo", "--type=merge", `--patch=${JSON.stringify(labels)}`);
      await waitFor("both to be published", async () => {
        expect((await management.get(Mesh, meshOf("lost")))?.spec?.istio?.installation?.version).toBe(`1.30.${step}`);
        expect((await management.get(Workload, workload))?.spec?.kubernetes?.podLabels?.["step"]).toBe(`${step}`);
        return true;
      });
    }
    await inWest("delete", "deployment", "istiod", "--namespace=istio-system");
    // While policies rely on it, it stays until this is confirmed.
    const confirmation = JSON.stringify({ spec: { removed: ["istio-system/istiod"] } });
    const confirm = ["patch", "kubernetescluster", "lost", `--namespace=${namespace}`, "--type=merge", `--patch=${confirmation}`];
    expect(await kubectl({ components, server: fleet.servers.management }, confirm)).toMatchObject({ code: 0 });
    await waitFor("the mesh to go", async () => (await management.get(Mesh, meshOf("lost"))) === undefined);
    // What asks for something is answered.
    const { apiVersion, kind } = Settings;
    await applyAll(management, [{ apiVersion, kind, metadata: { name: "settings", namespace }, spec: {} } as AnyResource]);
    await waitFor("the status of the Settings", async () => {
      return (await management.get(Settings, { name: "settings", namespace }))?.status !== undefined;
    });
  }

  it.each(["management", "east"] as const)("in %s: each verb of the roles is used", async (name) => {
    const account = name === "east" ? "gloo-mesh-agent" : "gloo-mesh-mgmt-server";
    const granted = await grantedVerbs(name === "east" ? east : management, { name: account, namespace });
    expect(granted.length).toBeGreaterThan(40);
    await rightsAreUsed({ granted, used: fleet.servers[name].planeVerbs, exceptions: UNUSED[name] });
  });

  // Last, as what is refused to an account is in the audit log.
  it.each(["management", "east"] as const)("in %s: what is left out is refused when it is tried with the token", async (name) => {
    const server = fleet.servers[name];
    const account = { name: name === "east" ? "gloo-mesh-agent" : "gloo-mesh-mgmt-server", namespace };
    const kubeconfig = await accountKubeconfig(server, fleet.directory, account);
    const before = server.planeRefusals().length;
    const { tried, notRefused } = await tryRefused({ server, cluster: name === "east" ? east : management, kubeconfig }, "bookinfo");
    expect(notRefused).toEqual([]);
    expect(tried).toBeGreaterThan(50);
    expect(server.planeRefusals().length).toBeGreaterThan(before + 50);
  });

  it("the agent may create the Secrets that it needs, and of no other name or type", async () => {
    const kubeconfig = await accountKubeconfig(fleet.servers.east, fleet.directory, { name: "gloo-mesh-agent", namespace });
    const created = async (where: string, name: string, type: string) => {
      const annotations = { "kubernetes.io/service-account.name": "default" };
      const object = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: where, annotations }, type };
      const args = ["create", "--dry-run=server", "--validate=false", "-f", "-"];
      const { code, stderr } = await kubectl({ components, server: { kubeconfig } }, args, object);
      return code === 0 ? "created" : /may only create the Secrets/.test(stderr) ? "refused" : stderr;
    };
    const token = "kubernetes.io/service-account-token";
    const issued = "certificates.mesh.gloo.solo.io/issued_certificate";
    for (const [where, name, type, answer] of [
      [namespace, "vault-token", token, "refused"],
      [namespace, "vault-token", "Opaque", "refused"],
      [namespace, "anything", "Opaque", "refused"],
      [namespace, "relay-client-tls-secret", token, "refused"],
      [namespace, "mesh-certificate-keys", token, "refused"],
      ["istio-system", "cacerts", token, "refused"],
      ["istio-system", "cacerts", "Opaque", "refused"],
      ["istio-system", "istio-ca-secret", "istio.io/ca-root", "refused"],
    ] as const)
      expect([where, name, type, await created(where, name, type)]).toEqual([where, name, type, answer]);
    // What it may create is there, but for `cacerts`, where it says so.
    expect(await created("istio-system", "cacerts", issued)).toMatch(/already exists/);
  });

  it("are uninstalled: what users wrote stays, with the CRDs and the Secrets", async () => {
    await Promise.all([...servers, agent].map(({ program }) => program.stop()));
    const secrets = await fingerprints(management);
    for (const chart of ["gloo-mesh-mgmt-server", "gloo-mesh-crds"] as const) {
      const { code } = await helm({ components, server: fleet.servers.management }, ["uninstall", chart, `--namespace=${namespace}`]);
      expect(code).toBe(0);
    }
    expect(await management.get(TrafficPolicy, { name: "timeout", namespace })).toBeDefined();
    expect(await fingerprints(management)).toEqual(secrets);
  });
});

/** `group/plural`. */
function resourceOf({ apiVersion, plural }: { readonly apiVersion: string; readonly plural: string }): string {
  return `${groupOf(apiVersion)}/${plural}`;
}
