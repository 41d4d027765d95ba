import { KubernetesCluster, Secret } from "@isthmus/api";
import { type Clock, type Kind, refOf, UsageError } from "@isthmus/core";
import { KUBECONFIG_SECRET_TYPE } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { checkDeregistered } from "./register/clusterNames.ts";
import { purgeConfiguration } from "./register/purgeConfiguration.ts";
import { isOurs, remoteObjects, tokenSecretName } from "./remoteAccess.ts";

/** One cluster without an agent, whose registration is undone. */
export interface Deregistration {
  readonly management: Cluster;
  /** Undefined: that cluster is not there any more. */
  readonly remote: Cluster | undefined;
  readonly clusterName: string;
  readonly managementNamespace: string;
  readonly remoteNamespace: string;
  /** Also deletes the mesh configuration that was applied. */
  readonly purges: boolean;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/** Undoes all that registration made, and what of it is there. Throws UsageError with all that could not be removed. */
export async function deregisterCluster(deregistration: Deregistration): Promise<void> {
  const { clusterName, remote, managementNamespace, purges, clock, say } = deregistration;
  if (remote !== undefined) await checkDeregistered(deregistration.management, remote, { clusterName, namespace: managementNamespace });
  say(`Deregistering cluster: ${clusterName}`);
  const problems = [...(await removeStandardRegistration(deregistration))];
  // The server has no account there any more: what is deleted stays deleted.
  if (purges && remote !== undefined) {
    const { deleted, problems: unpurged } = await purgeConfiguration(remote, { managementNamespace, agentNamespace: undefined, clock });
    for (const object of deleted) say(`deleted ${object}`);
    problems.push(...unpurged);
  }
  if (problems.length > 0) throw new UsageError(`not everything could be deleted: ${problems.join("; ")}`);
  say(`Successfully deregistered cluster: ${clusterName}`);
}

/** Removes what registration without an agent has made, also where it was not completed. Gives what could not be removed. */
export async function removeStandardRegistration({
  management,
  remote,
  clusterName,
  managementNamespace,
  remoteNamespace,
}: Pick<Deregistration, "management" | "remote" | "clusterName" | "managementNamespace" | "remoteNamespace">): Promise<readonly string[]> {
  const secret = await management.get(Secret, { name: clusterName, namespace: managementNamespace });
  const problems: string[] = [];
  const attempt = async (cluster: Cluster, kind: Kind, name: string, namespace = ""): Promise<void> => {
    try {
      const found = await cluster.get(kind, { name, namespace });
      if (found === undefined) return;
      if (cluster === remote && !isOurs(found)) return;
      const { uid } = found.metadata;
      await cluster.delete({ ...refOf(found), namespace }, uid === undefined ? {} : { uid });
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      if (error.code !== "NotFound") problems.push(error.message);
    }
  };
  await attempt(management, KubernetesCluster, clusterName, managementNamespace);
  if (secret?.type === KUBECONFIG_SECRET_TYPE) await attempt(management, Secret, clusterName, managementNamespace);
  if (remote !== undefined) {
    await attempt(remote, Secret, tokenSecretName(clusterName), remoteNamespace);
    for (const { kind, resource } of [...remoteObjects(clusterName, remoteNamespace)].reverse()) {
      await attempt(remote, kind, resource.metadata.name, resource.metadata.namespace);
    }
  }
  return problems;
}
