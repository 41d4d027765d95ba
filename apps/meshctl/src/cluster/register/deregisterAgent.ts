import { KubernetesCluster } from "@isthmus/api";
import { type Clock, isClusterName, UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { removeStandardRegistration } from "../standardDeregistration.ts";
import { checkDeregistered } from "./clusterNames.ts";
import { removeRegistration } from "./removeRegistration.ts";

export interface AgentDeregistration {
  readonly management: Cluster;
  readonly managementNamespace: string;
  /** Connects to the cluster. Undefined: it does not exist any more. */
  readonly remote: (() => Promise<Cluster>) | undefined;
  readonly remoteNamespace: string;
  readonly clusterName: string;
  /** Also deletes the mesh configuration that was applied. */
  readonly purges: boolean;
  /** The clusters only tell what would be changed. */
  readonly isDryRun: boolean;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/**
 * Undoes a registration with an agent, also one that was not completed. False, and nothing is done, where the cluster is registered
 * without an agent. Throws UsageError with all that could not be deleted, and for a cluster that is not the registered one.
 */
export async function deregisterAgent(deregistration: AgentDeregistration): Promise<boolean> {
  const { management, managementNamespace, remote: toRemote, remoteNamespace, clusterName, purges, clock, say } = deregistration;
  if (!isClusterName(clusterName)) {
    throw new UsageError(`${clusterName} is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens`);
  }
  const registration = await management.get(KubernetesCluster, { name: clusterName, namespace: managementNamespace });
  if ((registration?.spec?.secretName ?? "") !== "") return false;
  const remote = await toRemote?.();
  if (remote !== undefined) await checkDeregistered(management, remote, { clusterName, namespace: managementNamespace });
  say(`Deregistering cluster: ${clusterName}`);
  const removed = await removeRegistration({
    management,
    managementNamespace,
    remote,
    remoteNamespace,
    clusterName,
    keepsRegistration: false,
    isDryRun: deregistration.isDryRun,
    ...(purges ? { purgeBy: clock } : {}),
  });
  // A registration without an agent that did not come as far as its KubernetesCluster.
  const standard = registration === undefined ? await removeStandardRegistration({ ...deregistration, remote }) : [];
  const problems = [...removed.problems, ...standard];
  for (const object of removed.deleted) say(`deleted ${object}`);
  if (problems.length > 0) throw new UsageError(`not everything could be deleted: ${problems.join("; ")}`);
  if (remote === undefined)
    say("Nothing was deleted in the cluster itself. An agent that still runs there stops writing when the server answers it.");
  else if (!purges) say("The mesh configuration that was applied there is kept (delete it: --purge).");
  say(`Successfully deregistered cluster: ${clusterName}`);
  return true;
}
