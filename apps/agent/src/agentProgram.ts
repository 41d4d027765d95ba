import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hasUserStatus } from "@isthmus/api";
import type { Clock, Log } from "@isthmus/core";
import { leafValidity } from "@isthmus/dataplane";
import { type Kubeconfig, kubernetesAuthorizer, kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { type AgentOptions, type Cluster, NAMES, systemClock } from "@isthmus/plane";
import { type AdminOptions, createLog, startAdmin } from "@isthmus/process";
import type { AgentConfig } from "./config.ts";
import { httpClient } from "./httpClient.ts";

/** What the program has, in whichever mode it runs. */
export interface AgentProgram {
  readonly cluster: Cluster;
  readonly kubeconfig: Kubeconfig;
  /** New at each start: a process that starts again is another one, and what the one before said is not its word. */
  readonly identity: string;
  /** By which replicas elect the one that leads. */
  readonly lease: { readonly name: string; readonly namespace: string };
  /** How it gets at what certificates need outside of the cluster's API. */
  readonly certificates: Pick<AgentOptions, "vault" | "leafValidity" | "restartsByRollout">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Reads the kubeconfig; connects to nothing yet. */
export function agentProgram(config: AgentConfig): AgentProgram {
  const { clusterName, namespace, generation, vaultServers } = config;
  const random = Math.random;
  const clock = systemClock;
  const kubeconfig = loadKubeconfig({
    ...(config.kubeconfig === undefined ? {} : { path: config.kubeconfig }),
    ...(config.context === undefined ? {} : { context: config.context }),
  });
  const accountToken = async () => (await readFile(config.vaultTokenFile, "utf8")).trim();
  return {
    cluster: kubernetesCluster({ name: clusterName, kubeconfig, clock, random, keepsLastWriter: hasUserStatus }),
    kubeconfig,
    identity: `${config.instance}-${randomUUID()}`,
    lease: { name: NAMES[generation].agent, namespace },
    certificates: {
      ...(vaultServers.length === 0 ? {} : { vault: { http: httpClient, servers: vaultServers, accountToken } }),
      restartsByRollout: config.restartsByRollout,
      leafValidity: (address, until) => leafValidity(address, {}, until),
    },
    clock,
    random,
    log: createLog({ logger: NAMES[generation].agent, verbose: config.verbose }),
  };
}

/** Opens the port of metrics, health and pages, and says in the log when the process is to stop. */
export async function openAdminPort(
  config: AgentConfig,
  { kubeconfig, clock, log }: AgentProgram,
  { signal, ...served }: Pick<AdminOptions, "isReady" | "metrics" | "pages"> & { readonly signal: AbortSignal },
): ReturnType<typeof startAdmin> {
  const admin = await startAdmin({
    host: config.adminHost,
    port: config.adminPort,
    ...served,
    authorize: kubernetesAuthorizer({ kubeconfig, clock }).authorize,
    ...(config.adminTls === undefined ? {} : { tls: config.adminTls }),
  });
  log.info({ adminPort: admin.port }, `metrics and health on port ${admin.port}`);
  signal.addEventListener("abort", () => log.info({}, "stopping"), { once: true });
  return admin;
}
