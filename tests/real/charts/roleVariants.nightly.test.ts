import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AppMesh, computedKinds, contributedKinds, deliveredKinds, KubernetesCluster, PodBounceDirective, VirtualMesh } from "@isthmus/api";
import { type AnyResource, groupOf, type Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ciliumCrds, ciliumInstallation } from "../cilium/engine.ts";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace as namespaceOf } from "../harness/istioInstallation.ts";
import { anyFieldsCrd, applyAll, installCrds, kubernetesProjectCrds, objectsIn } from "../harness/manifests.ts";
import { fillIstioCluster } from "../harness/meshCluster.ts";
import { osmCrds, osmInstallation } from "../harness/osmInstallation.ts";
import { waitFor } from "../harness/waitFor.ts";
import { grantedVerbs, rightsAreUsed, rightsIn, tryRefused } from "./accountRights.ts";
import { exerciseEveryKind } from "./everyKind.ts";
import { agentRights, serverRights, writeRights } from "./expectedRights.ts";
import { accountKubeconfig, type InstalledProgram, isServing, startInstalled } from "./installedProgram.ts";
import { namespace, release } from "./release.ts";

const MESHCTL = fileURLToPath(new URL("../../../apps/meshctl/bin/meshctl.js", import.meta.url));
const WRITTEN = ["bookinfo", "istio-system", "shop", namespace];
/** In which nothing is written. */
const OTHER = "default";
const ACCOUNTS = { management: "gloo-mesh-mgmt-server", east: "gloo-mesh-agent" } as const;

// In the management cluster a server that manages it too, in east an agent that may write in some namespaces only.
describeReal("roles for other values of the charts", (components) => {
  let fleet: Fleet<"management" | "east">;
  let clusters: Readonly<Record<"management" | "east", Cluster>>;
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];
  const running: InstalledProgram[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: "istio" });
    const { servers, directory } = fleet;
    clusters = { management: clusterOf(servers.management, ""), east: clusterOf(servers.east, "east") };
    for (const [name, cluster] of Object.entries(clusters) as readonly ["management" | "east", Cluster][]) {
      await release({ components, server: servers[name], directory }, "gloo-mesh-crds");
      const named = name === "east" ? cluster : clusterOf(servers.management, "mgmt");
      ends.push((await fillIstioCluster(named, components, controllers.signal)).ended);
      await installCrds(cluster, [
        ...osmCrds(components, { own: true }),
        ...ciliumCrds(components),
        anyFieldsCrd(AppMesh),
        ...kubernetesProjectCrds(),
      ]);
      await applyAll(cluster, [namespaceOf(namespace), ...osmInstallation(), ciliumInstallation()]);
    }
    const values = { singleCluster: "mgmt", redis: { deployment: { enabled: false } }, serviceType: "ClusterIP", adminTokenReviews: false };
    await release({ components, server: servers.management, directory }, "gloo-mesh-mgmt-server", values);
    const server = await start("management", ([port]) => ["--host=127.0.0.1", `--port=${port}`]);
    await isServing(server, "/readyz");
    const args = [MESHCTL, "cluster", "token", "create", "--cluster=east", "--manifest", `--kubeconfig=${servers.management.kubeconfig}`];
    await applyAll(clusters.east, objectsIn((await promisify(execFile)(process.execPath, args)).stdout));
    await release({ components, server: servers.east, directory }, "gloo-mesh-agent", {
      relay: { cluster: "east", serverAddress: server.relayAddress },
      limits: { writeNamespaces: WRITTEN },
      adminTokenReviews: false,
    });
    await isServing(await start("east", () => []), "/readyz");
    for (const name of ["mgmt", "east"]) {
      await waitFor(`${name} to be connected`, async () => {
        const found = await clusters.management.get(KubernetesCluster, { name, namespace });
        return found?.status?.conditions?.find(({ type }) => type === "Connected")?.status === "True";
      });
    }
  });
  afterAll(async () => {
    await Promise.all(running.map(({ program }) => program.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet?.stop();
  });

  async function start(
    name: "management" | "east",
    here: (ports: readonly [number, number]) => readonly string[],
  ): Promise<InstalledProgram> {
    const started = await startInstalled({
      server: fleet.servers[name],
      namespace,
      deployment: ACCOUNTS[name],
      bin: name === "east" ? "agent/bin/agent.js" : "mgmt-server/bin/mgmt-server.js",
      pod: `${ACCOUNTS[name]}-0`,
      directory: fleet.directory,
      here,
    });
    running.push(started);
    return started;
  }

  const virtualMesh = (more: object): AnyResource => ({
    apiVersion: VirtualMesh.apiVersion,
    kind: VirtualMesh.kind,
    metadata: { name: "all", namespace },
    spec: { ...more, meshes: ["mgmt", "east"].map((cluster) => ({ name: `istiod-istio-system-${cluster}`, namespace })) },
  });

  it.each([
    ["management", "mgmt"],
    ["east", "east"],
  ] as const)("in %s: each verb on what is delivered or answered is used, and nothing is forbidden", async (name, cluster) => {
    const server = fleet.servers[name];
    const except = [...computedKinds(), PodBounceDirective];
    const hasAgent = name === "east";
    await exerciseEveryKind({ management: clusters.management, cluster, workload: clusters[name], server, hasAgent, except, virtualMesh });
    const about = [...deliveredKinds(), ...contributedKinds()].map(resourceOf);
    const granted = (await grantedVerbs(clusters[name], { name: ACCOUNTS[name], namespace })).filter((right) =>
      about.includes(right.replace(/(\/status)? .*/, "")),
    );
    expect(granted.length).toBeGreaterThan(60);
    const uncalled = name === "east" ? [PodBounceDirective] : except.filter((kind) => deliveredKinds().includes(kind));
    const reason = name === "east" ? "this agent may install no CA, so nothing restarts" : "without an agent nobody makes a key of a CA";
    const rights = uncalled.flatMap((kind) => ["get", "create", "update", "patch", "delete"].map((verb) => `${resourceOf(kind)} ${verb}`));
    const exceptions = Object.fromEntries(rights.map((right) => [right, reason]));
    await rightsAreUsed({ granted, used: server.planeVerbs, exceptions });
    expect(server.planeRefusals()).toEqual([]);
  });

  // Last, as what is refused to an account is in the audit log.
  it.each(["management", "east"] as const)("in %s: each verb that is left out is refused, and when it is tried", async (name) => {
    const server = fleet.servers[name];
    const kubeconfig = await accountKubeconfig(server, fleet.directory, { name: ACCOUNTS[name], namespace });
    const asked = { server, cluster: clusters[name], kubeconfig };
    const { everywhere, written, own } = name === "east" ? agentHere() : serverHere();
    expect((await rightsIn(asked, OTHER)).allowed).toEqual(sorted(everywhere));
    expect((await rightsIn(asked, "bookinfo")).allowed).toEqual(sorted([...everywhere, ...written]));
    expect((await rightsIn(asked, namespace)).allowed).toEqual(sorted([...everywhere, ...written, ...own]));
    const { tried, notRefused } = await tryRefused(asked, OTHER);
    expect(notRefused).toEqual([]);
    expect(tried).toBeGreaterThan(50);
  });
});

interface Expected {
  readonly everywhere: readonly string[];
  /** In addition, in namespaces that the chart names. */
  readonly written: readonly string[];
  readonly own: readonly string[];
}

/** Of an agent that writes in some namespaces only, elects no leader, installs no CA and serves no protected pages. */
function agentHere(): Expected {
  const { everywhere, own } = agentRights();
  const written = writeRights("agent");
  const without = [...written, "/pods/eviction create"];
  return { everywhere: withoutPages(everywhere).filter((right) => !without.includes(right)), written, own: withoutElection(own) };
}

/** Of a server that manages its own cluster everywhere. */
function serverHere(): Expected {
  const { everywhere, own } = serverRights();
  const reads = agentRights().everywhere.filter((right) => !/eviction|issuedcert|apimanagement.*(get|create|patch|delete)$/.test(right));
  const computed = computedKinds().filter((kind) => deliveredKinds().includes(kind));
  const ofComputed = computed.flatMap((kind) => ["get", "list", "watch"].map((verb) => `${resourceOf(kind)} ${verb}`));
  // What an agent for certificates alone requests, and what is answered.
  const requests = computedKinds().filter((kind) => !deliveredKinds().includes(kind));
  const ofRequests = requests.map(resourceOf).flatMap((one) => [`${one} list`, `${one} watch`, `${one}/status patch`]);
  return {
    everywhere: withoutPages([...everywhere, ...reads, ...ofComputed, ...ofRequests, ...writeRights("server")]),
    written: [],
    own: withoutElection(own),
  };
}

const withoutPages = (rights: readonly string[]) => rights.filter((right) => !right.includes("reviews create"));
const withoutElection = (rights: readonly string[]) => rights.filter((right) => !right.includes("/leases "));
const sorted = (rights: readonly string[]) => [...new Set(rights)].sort();

/** `group/plural`. */
function resourceOf({ apiVersion, plural }: Kind): string {
  return `${groupOf(apiVersion)}/${plural}`;
}
