import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { EnvoyFilter, Mesh, Pod, WasmDeployment } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { meshRef, settings } from "./dataplane/harness/resources.ts";
import { type AgentReplicas, addressOfThisMachine, placePod, startAgentReplicas } from "./harness/agentReplicas.ts";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { type LoggingEnvoy, startLoggingEnvoy } from "./harness/loggingEnvoy.ts";
import { applyAll } from "./harness/manifests.ts";
import { fillMeshCluster } from "./harness/meshCluster.ts";
import { giveRelaySecrets } from "./harness/relaySecrets.ts";
import { waitFor } from "./harness/waitFor.ts";
import { headerModule } from "./harness/wasmModule.ts";
import { watchDeployment } from "./harness/watchDeployment.ts";

// From a WasmDeployment to the header of an answer of an Envoy that knows nothing but a replica of the agent that does not lead.
describeReal("a real Envoy's Wasm filters by a replica that does not lead", (components) => {
  const controllers = new AbortController();
  let fleet: Fleet<"management" | "cluster-1">;
  let management: Cluster;
  let cluster: Cluster;
  let controlled: Promise<void> | undefined;
  let server: ManagementServer | undefined;
  let replicas: AgentReplicas;
  let modules: Server | undefined;
  let sources: Readonly<Record<"good" | "garbage", object>>;
  let filters: readonly object[] = [];
  let proxy: LoggingEnvoy | undefined;
  let pod = "";

  beforeAll(async () => {
    const address = addressOfThisMachine();
    // The other one begins as a module does, and ends there.
    const served = { good: Buffer.from(await headerModule()), garbage: Buffer.from("\0asm\u0001\0\0\0garbage") };
    modules = createServer(({ url }, response) => response.end(url === "/good" ? served.good : served.garbage));
    await new Promise<void>((resolve) => modules?.listen(0, address, resolve));
    const { port } = modules.address() as AddressInfo;
    const source = (name: keyof typeof served) => ({
      uri: `http://${address}:${port}/${name}`,
      sha: createHash("sha256").update(served[name]).digest("hex"),
    });
    sources = { good: source("good"), garbage: source("garbage") };

    fleet = await startFleet(components, ["management", "cluster-1"], { crds: "all" });
    management = clusterOf(fleet.servers.management, "");
    cluster = clusterOf(fleet.servers["cluster-1"], "cluster-1");
    await applyAll(management, [namespace("gloo-mesh")]);
    controlled = (await fillMeshCluster(cluster, components, controllers.signal)).ended;
    const { directory, servers } = fleet;
    server = await startManagementServer({ server: servers.management, directory });
    await server.app.ready();
    await giveRelaySecrets(management, cluster);
    replicas = await startAgentReplicas({ server: servers["cluster-1"], cluster, relayAddress: server.relayAddress, directory });
    // The Envoy of this test is one of these pods: it connects from an address that is known to be the pod's.
    pod = await waitFor("a pod of reviews-v1", async () => {
      const { items } = await cluster.list(Pod);
      return items.find(({ metadata: { labels } }) => labels?.["app"] === "reviews" && labels["version"] === "v1")?.metadata.name;
    });
    await placePod(cluster, pod, "bookinfo");
    await waitFor("the Mesh", () => management.get(Mesh, meshRef("cluster-1")));
  });

  afterAll(async () => {
    await proxy?.stop();
    await Promise.all([replicas?.leading.app, replicas?.standby.app, server?.app].map((app) => app?.program.stop()));
    controllers.abort();
    await controlled;
    await fleet?.stop();
    await new Promise((resolve) => modules?.close(resolve) ?? resolve(undefined));
  });

  /** Has all proxies of reviews-v1 run a module, of which the good one adds a header with this value. */
  const deploy = (module: keyof typeof sources, value: string) =>
    applyAll(management, [
      settings({ agentServices: { address: `${addressOfThisMachine()}:${replicas.standby.workloadPort}` } }),
      deploymentOf(sources[module], value),
    ]);

  /** Starts the proxy, which connects to nothing but the replica that does not lead. */
  const startProxy = () => {
    const { directory } = fleet;
    return startLoggingEnvoy({ envoy: components.envoy, directory, sinkPort: replicas.standby.workloadPort, pod, httpFilters: filters });
  };

  /** Code and header of an answer. */
  async function answer(): Promise<string> {
    const response = await fetch(proxy?.url ?? "");
    await response.arrayBuffer();
    return `${response.status} ${response.headers.get("x-wasm-filter") ?? "-"}`;
  }

  const hasHeader = (value: string) => waitFor(`the header ${value}`, async () => (await answer()) === `200 ${value}`);

  /** Waits until the status says so; gives its error. No state is the one before: what was reported of that would do otherwise. */
  const standing = (state: string, generation: number) =>
    waitFor(
      `the status to say ${state}`,
      async () => {
        const { status } = (await management.get(WasmDeployment, { name: "headers", namespace: "gloo-mesh" })) ?? {};
        const states = Object.values(status?.workloadStates ?? {});
        expect({ generation: status?.observedGeneration, states }).toEqual({ generation, states: [state] });
        return status?.error ?? "no error";
      },
      { timeoutMs: 60_000 },
    );

  it("are there, as the EnvoyFilter that the leader wrote has the proxy ask for them, and the leader reports it", async () => {
    await deploy("good", "one");
    filters = await waitFor("the EnvoyFilter", async () => {
      const { items } = await cluster.list(EnvoyFilter);
      return items.map(discoveredIn).find((found) => found.length > 0);
    });
    const { workloadPort } = replicas.standby;
    expect(JSON.stringify(filters)).toContain(`"target_uri":"${addressOfThisMachine()}:${workloadPort}"`);
    proxy = await startProxy();
    await hasHeader("one");
    expect(await standing("FILTERS_DEPLOYED", 1)).toBe("no error");
    expect(await replicas.leader()).toBe("agent-a");
  });

  it("are replaced without a lost request, and one that is refused leaves the one before in force", async () => {
    const answers = new Set<string>();
    const values = ["-", "one", "two", "three", "four"];
    const running = async () => (await answer()).replace("200 ", "");
    const watched = watchDeployment(management, { name: "headers", values, running });
    let tooEarly: readonly string[] = [];
    let isReplaced = false;
    const load = (async () => {
      while (!isReplaced) answers.add(await answer());
    })();
    try {
      await deploy("good", "two");
      await hasHeader("two");
      expect(await standing("FILTERS_DEPLOYED", 2)).toBe("no error");
      await deploy("garbage", "three");
      expect(await standing("DEPLOYMENT_FAILED", 3)).toContain("Unable to create Wasm plugin");
      expect(await answer()).toBe("200 two");
      await deploy("good", "four");
      await hasHeader("four");
      expect(await standing("FILTERS_DEPLOYED", 4)).toBe("no error");
    } finally {
      isReplaced = true;
      await load;
      tooEarly = await watched.stop();
    }
    expect(tooEarly).toEqual([]);
    // It was read before and after each answer: of the one that was refused it never says anything else.
    const pending = ["DEPLOYMENT_PENDING", "FILTERS_DEPLOYED"];
    expect(Object.fromEntries([...watched.said].map(([generation, states]) => [generation, [...states].sort()]))).toEqual({
      1: ["FILTERS_DEPLOYED"],
      2: pending,
      3: ["DEPLOYMENT_FAILED", "DEPLOYMENT_PENDING"],
      4: pending,
    });
    expect([...answers]).toEqual(["200 one", "200 two", "200 four"]);
    expect(await replicas.leader()).toBe("agent-a");
  });

  it("are there for a proxy that starts while the server and the replica that leads are gone", async () => {
    await Promise.all([server?.app.program.kill(), replicas.leading.app.program.kill()]);
    expect(await answer()).toBe("200 four");
    await proxy?.stop();
    proxy = await startProxy();
    await hasHeader("four");
  });
});

function deploymentOf(httpUriSource: object, value: string): AnyResource {
  const { apiVersion, kind } = WasmDeployment;
  const staticFilterConfig = { "@type": "type.googleapis.com/google.protobuf.StringValue", value };
  const labels = { app: "reviews", version: "v1" };
  return {
    apiVersion,
    kind,
    metadata: { name: "headers", namespace: "gloo-mesh" },
    spec: {
      workloadSelector: [{ kubeWorkloadMatcher: { labels, namespaces: ["bookinfo"], clusters: ["cluster-1"] } }],
      filters: [{ httpUriSource, rootId: "header", filterContext: "SIDECAR_INBOUND", staticFilterConfig }],
    },
  } as AnyResource;
}

/** The filters that an EnvoyFilter has proxies ask for. */
function discoveredIn({ spec }: EnvoyFilter): readonly object[] {
  const { configPatches = [] } = (spec ?? {}) as { readonly configPatches?: readonly { readonly patch?: { readonly value?: object } }[] };
  return configPatches.flatMap(({ patch }) => (patch?.value !== undefined && "config_discovery" in patch.value ? [patch.value] : []));
}
