import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KubernetesCluster, Secret } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, type ManagementServer, startAgent, startManagementServer } from "./harness/apps.ts";
import { clusterOf, Namespace } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { waitFor } from "./harness/waitFor.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));

// One story: each test continues where the one before it ended.
describeReal("who may join, on real Kubernetes", (components) => {
  let fleet: Fleet<"management" | "east">;
  let management: Cluster;
  let east: Cluster;
  const servers: ManagementServer[] = [];
  const agents: App[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: "all" });
    management = clusterOf(fleet.servers.management, "");
    east = clusterOf(fleet.servers.east, "east");
    for (const cluster of [management, east]) {
      await applyAll(cluster, [namespace("gloo-mesh")]);
    }
    // Two replicas that start together: they make one identity.
    const { directory } = fleet;
    const more = ["--leader-election"];
    const started = [1, 2].map((id) => startManagementServer({ server: fleet.servers.management, directory, name: `server-${id}`, more }));
    servers.push(...(await Promise.all(started)));
    await Promise.all(servers.map(({ app }) => app.ready()));
    // The one that leads first: it tells what is connected to it, as they share no store.
    const leads = ({ app }: ManagementServer) => app.program.output().includes("this replica is now the leader");
    await waitFor("one of them to lead", () => servers.some(leads));
    servers.sort((a, b) => Number(leads(b)) - Number(leads(a)));
    const root = await management.get(Secret, { name: "relay-root-tls-secret", namespace: "gloo-mesh" });
    expect(Object.keys(root?.data ?? {})).toEqual(["ca.crt"]);
    const { apiVersion, kind } = Secret;
    const metadata = { name: "relay-root-tls-secret", namespace: "gloo-mesh" };
    await applyAll(east, [{ apiVersion, kind, metadata, type: "Opaque", data: root?.data ?? {} }]);
  });
  afterAll(async () => {
    await Promise.all([...agents, ...servers.map(({ app }) => app)].map(({ program }) => program.stop()));
    await fleet?.stop();
  });

  async function meshctl(...args: readonly string[]): Promise<string> {
    const place = ["--kubeconfig", fleet.servers.management.kubeconfig];
    return (await promisify(execFile)(process.execPath, [MESHCTL, "cluster", ...args, ...place])).stdout.trim();
  }

  const registration = () => management.get(KubernetesCluster, { name: "east", namespace: "gloo-mesh" });
  const isConnected = async () => (await registration())?.status?.conditions?.find(({ type }) => type === "Connected")?.status === "True";
  const uidOf = async (cluster: Cluster) => (await cluster.get(Namespace, { name: "kube-system", namespace: "" }))?.metadata.uid;

  async function agentOf(name: string, more: readonly string[] = [], at = 0, server = fleet.servers.east): Promise<App> {
    const relayAddress = servers[at]?.relayAddress ?? "";
    const agent = await startAgent({ server, cluster: "east", relayAddress, directory: fleet.directory, name, more });
    agents.push(agent);
    return agent;
  }

  it("lets a cluster in with a join token, once", async () => {
    const token = await meshctl("token", "create", "--cluster", "east");
    await agentOf("agent-1", [`--relay-token=${token}`]);
    await waitFor("the agent to be connected", isConnected);
    const left = (await management.list(Secret, { namespace: "gloo-mesh" })).items.map(({ metadata }) => metadata.name);
    expect(left.filter((name) => name.startsWith("relay-join-token-"))).toEqual([]);
    await waitFor("its status to name the roots that it trusts", async () =>
      /^[0-9a-f]{32}$/.test((await registration())?.status?.agent?.trustedRoots ?? ""),
    );
    await agentOf("agent-2", [], 1);
    await waitFor("the other replica to know it too", () => servers[1]?.app.program.output().includes("agent of east connected"));
  });

  it("sends a revoked one away from every replica within five seconds, and back in with a new token only", async () => {
    await meshctl("revoke", "east");
    const isSentAway = ({ program }: App) => program.output().includes("the certificates of east were revoked");
    await waitFor("both replicas to send it away", () => agents.every(isSentAway), { timeoutMs: 5_000 });
    const [first, second] = agents;
    await second?.program.stop();
    await waitFor("the status to say that nobody is connected", async () => !(await isConnected()));
    const token = await meshctl("token", "create", "--cluster", "east", "--ttl", "10m");
    await first?.program.stop();
    await agentOf("agent-3", [`--relay-token=${token}`]);
    await waitFor("the agent to be connected again", isConnected);
  });

  it("gives a name away when an operator says so", async () => {
    await meshctl("revoke", "east", "--undo");
    const newcomer = (...more: readonly string[]) => agentOf("newcomer", more, 1, fleet.servers.management);
    const refused = await newcomer();
    await waitFor("the newcomer to be refused", () => refused.program.output().includes("meshctl cluster replace east"));
    await refused.program.stop();
    await meshctl("replace", "east");
    // The shared token opens new names alone.
    await newcomer(`--relay-token=${await meshctl("token", "create", "--cluster", "east")}`);
    const uid = await uidOf(management);
    await waitFor("the newcomer to have the name", async () => (await registration())?.status?.clusterUid === uid);
    const old = agents.find(({ program }) => program.name === "agent-3");
    await waitFor("the old one to be sent away", () => old?.program.output().includes("another cluster has taken the name east"));
  });
});
