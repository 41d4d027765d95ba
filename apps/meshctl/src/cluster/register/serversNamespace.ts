import { type AnyResource, UsageError } from "@isthmus/core";
import { NAMES } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";
import { untyped } from "../remoteAccess.ts";
import { AGENT } from "./agentManifest.ts";

const Deployment = untyped("apps/v1", "Deployment", "deployments");

/**
 * Refuses to put a first agent into the namespace of a management server: who takes over the one could read the keys of the other. An agent that is there already stays.
 * Throws UsageError with the option that names another namespace.
 */
export async function refuseServersNamespace(remote: Cluster, namespace: string): Promise<void> {
  const found = async (name: string): Promise<AnyResource | undefined> => remote.get(Deployment, { name, namespace });
  const [agent, ...servers] = await Promise.all([AGENT, ...Object.values(NAMES).map(({ server }) => server)].map(found));
  const [server] = servers.filter((one) => one !== undefined);
  if (agent !== undefined || server === undefined) return;
  throw new UsageError(
    `namespace ${namespace} of this cluster has a management server (Deployment ${server.metadata.name}), whose Secrets an agent must not come near: ` +
      `give the agent a namespace of its own, with --remote-namespace ${namespace}-agent here and in later commands about this agent`,
  );
}
