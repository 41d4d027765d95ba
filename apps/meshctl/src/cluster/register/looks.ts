import { X509Certificate } from "node:crypto";
import { KubernetesCluster, Secret } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { untyped } from "../remoteAccess.ts";
import { AGENT } from "./agentManifest.ts";
import type { Look } from "./gates.ts";
import { CLIENT_SECRET } from "./relaySecrets.ts";

const Deployment = untyped("apps/v1", "Deployment", "deployments");
const Pod = untyped("v1", "Pod", "pods");

interface DeploymentFields {
  readonly spec?: { readonly replicas?: number; readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

interface PodFields {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
    }[];
  };
}

/** Whether all pods of a Deployment, by default the agent's, run and are ready. */
export async function lookAtPods(cluster: Cluster, namespace: string, name = AGENT): Promise<Look> {
  const deployment = await cluster.get(Deployment, { name, namespace });
  if (deployment === undefined) return { failed: `Deployment ${namespace}/${name} was deleted meanwhile` };
  const { spec = {}, status = {} } = deployment as unknown as DeploymentFields;
  const { replicas = 1 } = spec;
  const isSeen = (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);
  const available = Math.min(status.availableReplicas ?? 0, status.updatedReplicas ?? 0);
  if (isSeen && available >= replicas) return { open: `${available} of ${replicas} pods of Deployment ${namespace}/${name} are ready` };
  const pods = await cluster.list(Pod, { namespace, labels: { matchLabels: spec.selector?.matchLabels ?? { app: name } } });
  const refused = status.conditions?.find((condition) => condition.type === "ReplicaFailure" && condition.status === "True");
  const cause =
    pods.items.map(podProblem).find((problem) => problem !== undefined) ??
    refused?.message ??
    (isSeen ? undefined : "no controller has acted on it yet: check kube-controller-manager");
  return {
    waiting: `${isSeen ? available : 0} of ${replicas} pods of Deployment ${namespace}/${name} are ready${cause === undefined ? "" : `; ${cause}`}`,
  };
}

function podProblem(pod: AnyResource): string | undefined {
  const { status = {} } = pod as unknown as PodFields;
  const { name, namespace } = pod.metadata;
  const unscheduled = status.conditions?.find((condition) => condition.type === "PodScheduled" && condition.status === "False");
  if (unscheduled !== undefined) return `Pod ${namespace}/${name} is not scheduled: ${unscheduled.message ?? "no reason given"}`;
  for (const { name: container, state } of status.containerStatuses ?? []) {
    const { reason, message } = state?.waiting ?? {};
    if (reason !== undefined)
      return `Pod ${namespace}/${name}, container ${container}: ${reason}${message === undefined ? "" : `: ${message}`}`;
  }
  return undefined;
}

/** What is to be looked at in the management cluster. */
export interface RegistrationToWatch {
  readonly management: Cluster;
  readonly managementNamespace: string;
  readonly clusterName: string;
  readonly uid: string;
}

/** Where the certificate of an agent is, and the join token that it is obtained with. */
interface CertificateToWatch {
  readonly remote: Cluster;
  readonly remoteNamespace: string;
  readonly tokenName: string | undefined;
}

/** Whether the management plane knows this very cluster, by the certificate of its agent; undefined: without, by the UID that comes with the token. */
export async function lookAtCertificate(
  { management, managementNamespace, clusterName, uid }: RegistrationToWatch,
  certificate: CertificateToWatch | undefined,
): Promise<Look> {
  const registration = await management.get(KubernetesCluster, { name: clusterName, namespace: managementNamespace });
  const owner = registration?.status?.clusterUid ?? "";
  if (owner !== "" && owner !== uid) return { failed: `another cluster has registered as ${clusterName} meanwhile (UID ${owner})` };
  if (certificate === undefined)
    return owner === uid ? { open: "none: the management server knows this cluster by its UID" } : { waiting: NOT_REGISTERED };
  const { remote, remoteNamespace, tokenName } = certificate;
  const secret = await remote.get(Secret, { name: CLIENT_SECRET, namespace: remoteNamespace });
  const pem = Buffer.from(secret?.data?.["tls.crt"] ?? "", "base64").toString("utf8");
  if (owner === uid && pem !== "") {
    const until = validity(pem);
    return { open: `Secret ${remoteNamespace}/${CLIENT_SECRET}${until === undefined ? "" : `, valid until ${until}`}` };
  }
  const isUsed =
    tokenName !== undefined && (await management.get(Secret, { name: tokenName, namespace: managementNamespace })) === undefined;
  return {
    waiting: isUsed
      ? `the join token was used, but the agent has not stored its certificate in Secret ${remoteNamespace}/${CLIENT_SECRET}`
      : NOT_REGISTERED,
  };
}

const NOT_REGISTERED = "the agent has not registered with the management server";

function validity(pem: string): string | undefined {
  try {
    return new Date(new X509Certificate(pem).validTo).toISOString();
  } catch {
    // A user's own, in a form that only the agent needs to read.
    return undefined;
  }
}

/** Whether the management plane knows everything that the agent reports. */
export async function lookAtSnapshot({ management, managementNamespace, clusterName }: RegistrationToWatch): Promise<Look> {
  const registration = await management.get(KubernetesCluster, { name: clusterName, namespace: managementNamespace });
  const conditions = registration?.status?.conditions ?? [];
  const connected = conditions.find(({ type }) => type === "Connected");
  const synced = conditions.find(({ type }) => type === "Synced");
  if (connected?.status !== "True")
    return { waiting: connected?.message ?? "the management server has not reported the agent as connected" };
  if (synced?.status !== "True") return { waiting: synced?.message ?? "the agent has not completed its full sync" };
  return { open: synced.message ?? "the agent has completed its full sync" };
}
