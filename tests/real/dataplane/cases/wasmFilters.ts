import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Mesh, WasmDeployment } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startManagementServer } from "../../harness/apps.ts";
import { type Program, startProgram } from "../../harness/childProcess.ts";
import { clusterAt } from "../../harness/clusters.ts";
import { namespace } from "../../harness/istioInstallation.ts";
import { applyAll, installCrds } from "../../harness/manifests.ts";
import { ourCrds } from "../../harness/meshCluster.ts";
import { giveRelaySecrets } from "../../harness/relaySecrets.ts";
import { waitFor } from "../../harness/waitFor.ts";
import { headerModule } from "../../harness/wasmModule.ts";
import { watchDeployment } from "../../harness/watchDeployment.ts";
import { userObjectsOf } from "../endToEnd/userObjects.ts";
import { relayTo } from "../harness/networkRelay.ts";
import { meshRef, settings } from "../harness/resources.ts";
import { projectRoot } from "../harness/shared.ts";
import type { Testbed } from "../harness/testbed.ts";

// The network of the control plane of cluster-1, which pods reach: the agent runs there, and finds everything else there.
const HOST = "10.70.1.2";
const [AGENT, REGISTRY, RELAY] = [9977, 5000, 9900];
const CLIENT = "cluster-1/productpage-v1";
const REVIEWS = "reviews.bookinfo.svc.cluster.local";
const SOON_MS = 60_000;
const TIMEOUT_MS = 5 * SOON_MS;

/** From a WasmDeployment in the management cluster to the header of an answer: server and agent as processes, a registry, istiod and Envoys. */
export function wasmFilterCases(testbed: () => Testbed): void {
  const started: { stop(): Promise<void> | undefined }[] = [];
  let users: ReturnType<typeof userObjectsOf> | undefined;
  let management: ReturnType<typeof clusterAt> | undefined;

  beforeAll(async () => {
    const { directory, kubeconfig, kubeconfigInside, network } = testbed();
    const folder = join(directory, "modules");
    mkdirSync(folder);
    writeFileSync(join(folder, "v1.wasm"), await headerModule());
    // It begins as a module does, and ends there.
    writeFileSync(join(folder, "garbage.wasm"), Buffer.from("\0asm\u0001\0\0\0garbage"));

    const plane = clusterAt(kubeconfig("management"), "");
    const one = clusterAt(kubeconfig("cluster-1"), "cluster-1");
    const two = clusterAt(kubeconfig("cluster-2"), "cluster-2");
    management = plane;
    users = userObjectsOf({ management: plane, "cluster-1": one, "cluster-2": two });
    await Promise.all([plane, one].map((cluster) => installCrds(cluster, ourCrds())));
    await applyAll(plane, [namespace("gloo-mesh")]);
    const server = await startManagementServer({ server: { planeKubeconfig: kubeconfig("management") }, directory });
    started.push(server.app.program);
    await server.app.ready();
    await giveRelaySecrets(plane, one);

    const socket = join(directory, "relay.sock");
    const outside = relayTo(server.relayAddress, socket);
    started.push({ stop: () => void outside.close() });
    const { command, env } = network("cluster-1");
    const [first = "", ...rest] = command;
    const inside = (name: string, args: readonly string[]): Program => {
      const program = startProgram({
        name,
        command: first,
        args: [...rest, process.execPath, ...args],
        log: join(directory, `${name}.log`),
        env,
        cwd: projectRoot,
      });
      started.push(program);
      return program;
    };
    const script = fileURLToPath(new URL("../harness/moduleRegistry.ts", import.meta.url));
    const registry = inside("registry", [join(projectRoot, "tools/run.mjs"), script, HOST, `${REGISTRY}`, folder, `${RELAY}`, socket]);
    await waitFor("the registry", async () => registry.output().includes("listening"));
    inside("agent", [
      join(projectRoot, "apps/agent/bin/agent.js"),
      ...["--cluster=cluster-1", `--kubeconfig=${kubeconfigInside("cluster-1")}`, `--relay-address=${HOST}:${RELAY}`],
      ...["--admin-host=127.0.0.1", "--admin-port=9091", `--workload-host=${HOST}`, `--workload-port=${AGENT}`],
      ...["--wasm-filters", "--insecure-registries", `${HOST}:${REGISTRY}`],
    ]);
    await waitFor("the Mesh of cluster-1", () => plane.get(Mesh, meshRef("cluster-1")));
  });

  afterAll(async () => {
    for (const program of started.reverse()) await program.stop();
  });

  function running() {
    if (users === undefined || management === undefined) throw new Error("the management plane did not start");
    return { users, management };
  }

  const write = (...deployments: readonly AnyResource[]) =>
    running().users.usersWrite({ management: [settings({ agentServices: { address: `${HOST}:${AGENT}` } }), ...deployments] });
  const headerOf = async () =>
    /^x-wasm-filter: (.*?)\r?$/im.exec(await testbed().answerHead(CLIENT, [`http://${REVIEWS}:9080/`]))?.[1] ?? "-";

  /** Waits until the status says so of all workloads, with this in its error: before its agent has answered, each is pending without one. */
  async function standing(state: string, generation: number, error = "no error"): Promise<void> {
    await waitFor(
      `the status to say ${state}`,
      async () => {
        const { status } = (await running().management.get(WasmDeployment, { name: "headers", namespace: "gloo-mesh" })) ?? {};
        const states = [...new Set(Object.values(status?.workloadStates ?? {}))];
        expect({ generation: status?.observedGeneration, states }).toEqual({ generation, states: [state] });
        expect(status?.error ?? "no error").toContain(error);
        return true;
      },
      { timeoutMs: SOON_MS },
    );
  }

  it(
    "add their header, keep it when a module is refused or not there, and go without a lost request",
    async () => {
      expect(await headerOf()).toBe("-");
      await write(deployment("v1", "one"));
      await waitFor("the header", async () => (await headerOf()) === "one", { timeoutMs: SOON_MS });
      await standing("FILTERS_DEPLOYED", 1);
      const traffic = testbed().traffic(CLIENT, REVIEWS);
      const values = ["-", "one", "two", "three", "four"];
      const watched = watchDeployment(running().management, { name: "headers", values, running: headerOf });

      await write(deployment("garbage", "two"));
      await standing("DEPLOYMENT_FAILED", 2, "Unable to create Wasm plugin");
      expect(await headerOf()).toBe("one");

      await write(deployment("missing", "three"));
      await standing("DEPLOYMENT_PENDING", 3, "answered with status 404");
      expect(await headerOf()).toBe("one");

      await write(deployment("v1", "four"));
      await waitFor("the header of the mended one", async () => (await headerOf()) === "four", { timeoutMs: SOON_MS });
      await standing("FILTERS_DEPLOYED", 4);
      expect(await watched.stop()).toEqual([]);
      expect(Object.fromEntries([...watched.said].map(([generation, states]) => [generation, [...states].sort()]))).toEqual({
        1: ["FILTERS_DEPLOYED"],
        2: ["DEPLOYMENT_FAILED", "DEPLOYMENT_PENDING"],
        3: ["DEPLOYMENT_PENDING"],
        4: ["DEPLOYMENT_PENDING", "FILTERS_DEPLOYED"],
      });

      await write();
      await waitFor("the header to go", async () => (await headerOf()) === "-", { timeoutMs: SOON_MS });
      await traffic.stop();
      expect(traffic.answersBut("200 ")).toEqual({});
    },
    TIMEOUT_MS,
  );
}

function deployment(tag: string, value: string): AnyResource {
  return {
    apiVersion: WasmDeployment.apiVersion,
    kind: WasmDeployment.kind,
    metadata: { name: "headers", namespace: "gloo-mesh" },
    spec: {
      workloadSelector: [{ kubeWorkloadMatcher: { labels: { app: "reviews" }, namespaces: ["bookinfo"], clusters: ["cluster-1"] } }],
      filters: [
        {
          wasmImageSource: { wasmImageTag: `${HOST}:${REGISTRY}/filters/header:${tag}` },
          filterContext: "SIDECAR_INBOUND",
          staticFilterConfig: { "@type": "type.googleapis.com/google.protobuf.StringValue", value },
        },
      ],
    },
  };
}
