import { agentRoles, startCertificateAgent, startElection } from "@isthmus/plane";
import { diagnosticsPage, startMetrics } from "@isthmus/process";
import { agentProgram, openAdminPort } from "./agentProgram.ts";
import type { AgentConfig } from "./config.ts";

/**
 * Standard mode: carries out what the management server, which connects to this cluster itself, orders of certificates. There is always an
 * election, as its Lease tells the server that the agent is there.
 */
export async function runForCertificates(config: AgentConfig, signal: AbortSignal): Promise<void> {
  const { clusterName, namespace } = config;
  const ours = agentProgram(config);
  const { cluster, kubeconfig, identity, lease, certificates, clock, random, log } = ours;
  log.info({ cluster: clusterName, server: kubeconfig.server, namespace }, "starting in standard mode: for certificates of meshes alone");
  const election = startElection({ cluster, lease, identity, clock, random, log }, signal);
  const { owners } = agentRoles(config.managementNamespace, namespace);
  const agent = startCertificateAgent(
    { cluster, namespace, owners, leadership: election, identity, ...certificates, clock, random, log },
    signal,
  );
  const admin = await openAdminPort(config, ours, {
    // One that does not lead has nothing to read.
    isReady: () => !election.isLeader || agent.view?.isComplete === true,
    metrics: startMetrics({ source: "agent", read: () => [] }),
    pages: { "/diagnostics": diagnosticsPage() },
    signal,
  });
  await agent.ended;
  await election.resign();
  await admin.close();
}
