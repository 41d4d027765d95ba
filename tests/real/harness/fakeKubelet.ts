import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import type { ApiServer } from "./apiServer.ts";
import { type App, startAgent } from "./apps.ts";
import { anyKind } from "./clusters.ts";
import { tokenFor } from "./serviceAccount.ts";

const Deployment = anyKind("apps/v1", "Deployment", "deployments");

/** What there is of the agent's Deployment that a kubelet would run. */
interface AgentDeployment {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly spec: { readonly serviceAccountName: string; readonly containers: readonly { readonly args?: readonly string[] }[] };
    };
  };
}

/** In place of kubelet and controllers: runs the agent of a Deployment as a process of its own, as its account, and says so in the status. */
export interface FakeKubelet {
  /** Agents that were started so far. */
  readonly agents: readonly App[];
  /** Whether nothing is started for a while, as on a node that is full. */
  hold(isHeld: boolean): void;
  stop(): Promise<void>;
}

export interface FakeKubeletOptions {
  readonly server: ApiServer;
  readonly cluster: Cluster;
  readonly directory: string;
  readonly namespace?: string;
}

const PASSED_ON = ["--relay-authority", "--management-namespace", "--disable-client-certificates"];

/** Watches for the Deployment of the agent until stopped; one that is deleted has its process ended. */
export function startFakeKubelet({ server, cluster, directory, namespace = "gloo-mesh" }: FakeKubeletOptions): FakeKubelet {
  const agents: App[] = [];
  const ending = new AbortController();
  let current: { readonly uid: string; readonly app: App } | undefined;

  async function run(deployment: AnyResource): Promise<App> {
    const { spec } = deployment as unknown as AgentDeployment;
    const { serviceAccountName, containers } = spec.template.spec;
    const token = await tokenFor(server, serviceAccountName, ["https://kubernetes.default.svc"], namespace);
    const kubeconfig = JSON.parse(readFileSync(server.kubeconfig, "utf8")) as { users: unknown };
    kubeconfig.users = [{ name: "test", user: { token } }];
    const planeKubeconfig = join(directory, `pod-kubeconfig-${cluster.name}-${agents.length}`);
    writeFileSync(planeKubeconfig, JSON.stringify(kubeconfig), { mode: 0o600 });
    const args = containers[0]?.args ?? [];
    const flagValue = (flag: string): string => args.find((arg) => arg.startsWith(`${flag}=`))?.slice(flag.length + 1) ?? "";
    const app = await startAgent({
      server: { planeKubeconfig },
      cluster: flagValue("--cluster"),
      relayAddress: flagValue("--relay-address"),
      directory,
      name: `agent-${cluster.name}-${agents.length}`,
      more: [`--namespace=${namespace}`, ...args.filter((arg) => PASSED_ON.some((flag) => arg.split("=", 1)[0] === flag))],
    });
    agents.push(app);
    return app;
  }

  async function look(): Promise<void> {
    const deployment = await cluster.get(Deployment, { name: "gloo-mesh-agent", namespace });
    const uid = deployment?.metadata.uid ?? "";
    if (current !== undefined && current.uid !== uid) {
      await current.app.program.stop();
      current = undefined;
    }
    if (deployment === undefined) return;
    if (current === undefined) {
      current = { uid, app: await run(deployment) };
      await current.app.ready();
    }
    const { replicas = 1 } = (deployment as unknown as AgentDeployment).spec;
    const status = {
      observedGeneration: deployment.metadata.generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    };
    if ((deployment["status"] as { observedGeneration?: number } | undefined)?.observedGeneration === deployment.metadata.generation)
      return;
    await cluster.applyStatus(
      { ...deployment, metadata: { name: deployment.metadata.name, namespace }, status },
      { fieldManager: "kubelet", force: true },
    );
  }

  let isHeld = false;
  const looking = (async () => {
    while (!ending.signal.aborted) {
      // Tried again, as a kubelet does: its account may just be deleted, with the Deployment next.
      if (!isHeld) await look().catch((error: unknown) => console.error(`the kubelet of ${cluster.name}:`, error));
      await sleep(200);
    }
  })();

  return {
    agents,
    hold(next) {
      isHeld = next;
    },
    async stop() {
      ending.abort();
      await current?.app.program.stop();
      await looking;
    },
  };
}
