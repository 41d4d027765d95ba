import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { leafValidity } from "@isthmus/dataplane";
import { kubernetesAuthorizer, kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { agentRoles, NAMES, startCertificateAgent, startElection, systemClock } from "@isthmus/plane";
import { createLog, diagnosticsPage, startAdmin, startMetrics } from "@isthmus/process";
import type { AgentConfig } from "./config.ts";
import { httpClient } from "./httpClient.ts";

/**
 * Standard mode: carries out what the management server, which connects to this cluster itself, orders of certificates. There is always an
 * election, as its Lease tells the server that the agent is there.
 */
export async function runForCertificates(config: AgentConfig, signal: AbortSignal): Promise<void> {
  const { clusterName, namespace, generation, vaultServers } = config;
  const log = createLog({ logger: NAMES[generation].agent, verbose: config.verbose });
  const random = Math.random;
  const clock = systemClock;
  const kubeconfig = loadKubeconfig({
    ...(config.kubeconfig === undefined ? {} : { path: config.kubeconfig }),
    ...(config.context === undefined ? {} : { context: config.context }),
  });
  const cluster = kubernetesCluster({ name: clusterName, kubeconfig, clock, random });
  log.info({ cluster: clusterName, server: kubeconfig.server, namespace }, "starting in standard mode: for certificates of meshes alone");
  // A new name at each start: what an earlier process said is not the word of this one.
  const identity = `${config.instance}-${randomUUID()}`;
  const lease = { name: NAMES[generation].agent, namespace };
  const election = startElection({ cluster, lease, identity, clock, random, log }, signal);
  const accountToken = async () => (await readFile(config.vaultTokenFile, "utf8")).trim();
  const agent = startCertificateAgent(
    {
      cluster,
      namespace,
      owners: agentRoles(config.managementNamespace, namespace).owners,
      leadership: election,
      identity,
      ...(vaultServers.length === 0 ? {} : { vault: { http: httpClient, servers: vaultServers, accountToken } }),
      leafValidity: (address, until) => leafValidity(address, {}, until),
      clock,
      random,
      log,
    },
    signal,
  );
  const admin = await startAdmin({
    host: config.adminHost,
    port: config.adminPort,
    // One that does not lead has nothing to read.
    isReady: () => !election.isLeader || agent.view?.isComplete === true,
    metrics: startMetrics({ source: "agent", read: () => [] }),
    pages: { "/diagnostics": diagnosticsPage() },
    authorize: kubernetesAuthorizer({ kubeconfig, clock }).authorize,
    ...(config.adminTls === undefined ? {} : { tls: config.adminTls }),
  });
  log.info({ adminPort: admin.port }, `metrics and health on port ${admin.port}`);
  signal.addEventListener("abort", () => log.info({}, "stopping"), { once: true });
  await agent.ended;
  await election.resign();
  await admin.close();
}
