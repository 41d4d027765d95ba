import { JOIN_TOKEN_LABEL, KubernetesCluster, Lease, Secret } from "@isthmus/api";
import { type AnyResource, type Clock, formatRef, type Kind, type Resource, refOf } from "@isthmus/core";
import { RELAY_SECRETS } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { AGENT, agentObjects, isAgent } from "./agentManifest.ts";
import { moreOfAgent } from "./agentWithValues.ts";
import { deleteIfSame, isMadeByMeshctl, kindsOf, placeOf, withoutUnservedPolicies } from "./ownObjects.ts";
import { purgeConfiguration } from "./purgeConfiguration.ts";
import { CLIENT_SECRET, isIssued } from "./relaySecrets.ts";

export interface Removal {
  readonly management: Cluster;
  readonly managementNamespace: string;
  /** Undefined: the cluster is not there any more. */
  readonly remote: Cluster | undefined;
  readonly remoteNamespace: string;
  readonly clusterName: string;
  /** The KubernetesCluster stays, as somebody else has made it. */
  readonly keepsRegistration: boolean;
  /** Join tokens of the name stay, as another cluster joins with them. */
  readonly keepsTokens?: boolean;
  /** Also deletes the mesh configuration that was applied, and waits for the agent to end before. Undefined: it stays. */
  readonly purgeBy?: Clock;
  /** The clusters only tell what would be changed. */
  readonly isDryRun?: boolean;
}

/** What was deleted, and what could not be, as texts for people. */
export interface Removed {
  readonly deleted: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Deletes what a registration has made: in the management cluster the KubernetesCluster and unused join tokens, in the cluster
 * the agent, its rights and its Secrets. What somebody else has made stays, as do namespaces and CRDs. One object that cannot be deleted
 * does not hold up the others.
 */
export async function removeRegistration(removal: Removal): Promise<Removed> {
  const deleted: string[] = [];
  const problems: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      problems.push(`${what}: ${error.message}`);
    }
  };
  const drop = (cluster: Cluster, kind: Kind, object: Resource): Promise<void> =>
    attempt(formatRef(refOf(object)), async () => {
      await deleteIfSame(cluster, kind, object);
      deleted.push(formatRef(refOf(object)));
    });
  await attempt("management cluster", () => inManagement(removal, drop));
  const { remote, managementNamespace, remoteNamespace: agentNamespace, purgeBy: clock, isDryRun = false } = removal;
  if (remote !== undefined) await attempt("the cluster", () => inCluster({ ...removal, remote }, drop));
  if (remote === undefined || clock === undefined) return { deleted, problems };
  const purged = await purgeConfiguration(remote, { managementNamespace, agentNamespace, clock, isDryRun });
  return { deleted: [...deleted, ...purged.deleted], problems: [...problems, ...purged.problems] };
}

type Drop = (cluster: Cluster, kind: Kind, object: Resource) => Promise<void>;

/** First: the server then disconnects the agent and tells it so, and it writes no more. */
async function inManagement(
  { management, managementNamespace: namespace, clusterName, keepsRegistration, keepsTokens = false }: Removal,
  drop: Drop,
): Promise<void> {
  const registration = await management.get(KubernetesCluster, { name: clusterName, namespace });
  if (registration !== undefined && !keepsRegistration) await drop(management, KubernetesCluster, registration);
  if (keepsTokens) return;
  const labels = { matchLabels: { [JOIN_TOKEN_LABEL]: clusterName } };
  for (const token of (await management.list(Secret, { namespace, labels })).items) await drop(management, Secret, token);
}

async function inCluster({ remote, ...removal }: Removal & { readonly remote: Cluster }, drop: Drop): Promise<void> {
  const { remoteNamespace: namespace, clusterName } = removal;
  const names = { clusterName, namespace, managementNamespace: namespace, relay: { host: "localhost", port: 0, authority: "localhost" } };
  const objects = await withoutUnservedPolicies(
    remote,
    [...agentObjects(names)].reverse().filter(({ kind }) => !KEPT.has(kind)),
  );
  const kindOf = await kindsOf(remote, objects);
  const ours = async (wanted: readonly AnyResource[]): ReturnType<typeof moreOfAgent> => {
    const found = await Promise.all(wanted.map((object) => remote.get(kindOf(object), placeOf(object))));
    return found.flatMap((object) => (object !== undefined && isMadeByMeshctl(object) ? [{ kind: kindOf(object), object }] : []));
  };
  const isAccount = ({ kind }: AnyResource): boolean => kind === "ServiceAccount";
  // The ServiceAccount last: it says what more there is, also after a removal that was interrupted.
  const all = [
    ...(await ours(objects.filter((object) => !isAccount(object)))),
    ...(await moreOfAgent(remote, namespace)),
    ...(await ours(objects.filter(isAccount))),
  ];
  for (const { kind, object } of all) await drop(remote, kind, object);
  for (const name of [RELAY_SECRETS.token, RELAY_SECRETS.root, CLIENT_SECRET]) {
    const found = await remote.get(Secret, { name, namespace });
    const isOurs = found !== undefined && (isMadeByMeshctl(found) || isIssued(found));
    if (isOurs) await drop(remote, Secret, found);
  }
  // An agent that somebody else has installed still leads by the Lease, and keeps its keys.
  const agents = await Promise.all(objects.filter(isAgent).map((object) => remote.get(kindOf(object), placeOf(object))));
  if (agents.some((agent) => agent !== undefined)) return;
  const lease = await remote.get(Lease, { name: AGENT, namespace });
  if (lease !== undefined) await drop(remote, Lease, lease);
  const keys = await remote.get(Secret, { name: REQUESTED_KEYS, namespace });
  if (keys?.metadata.labels?.["app"] === "gloo-mesh") await drop(remote, Secret, keys);
}

/** Keys of mesh CAs that the agent has requested and not installed, with its label; of use to it alone. Source: packages/plane/src/agent/trust/authoritySecrets.ts. */
const REQUESTED_KEYS = "mesh-certificate-keys";

/** What may hold other things by now. */
const KEPT: ReadonlySet<string> = new Set(["Namespace", "CustomResourceDefinition"]);
