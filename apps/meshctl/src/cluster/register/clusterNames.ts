import { KubernetesCluster } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { type Cluster, ClusterError, clusterRegistrations } from "@isthmus/plane";
import { RemoteNamespace } from "../remoteAccess.ts";
import { MANAGER } from "./ownObjects.ts";

/** Annotation on a KubernetesCluster whose registration by meshctl is under way: the UID of the cluster that is being registered. */
export const REGISTERING = "isthmus.mesh/registering";

/** A name in the management plane, and the cluster that wants it. */
export interface RegistrationOfName {
  readonly clusterName: string;
  /** Of the management plane. */
  readonly namespace: string;
  /** Of the namespace kube-system of the cluster. */
  readonly uid: string;
}

/** What a user declares of a cluster; what is undefined stays as it is. */
export interface DeclaredFields {
  readonly clusterDomain?: string | undefined;
  /** Whether anything is written in it from the start. */
  readonly mode?: string | undefined;
}

/** The UID by which the management plane tells one cluster from another. Throws UsageError where it cannot be read. */
export async function uidOfCluster(cluster: Cluster): Promise<string> {
  const uid = (await cluster.get(RemoteNamespace, { name: "kube-system", namespace: "" }))?.metadata.uid;
  if (uid === undefined)
    throw new UsageError("the cluster has no namespace kube-system, whose UID identifies it: is it a Kubernetes cluster?");
  return uid;
}

/** The registration of a name as it is now. Throws UsageError when another cluster has the name, or this one another name. */
export async function checkClusterName(
  management: Cluster,
  { clusterName, namespace, uid }: RegistrationOfName,
): Promise<KubernetesCluster | undefined> {
  const existing = await management.get(KubernetesCluster, { name: clusterName, namespace });
  if (existing?.spec?.secretName !== undefined && existing.spec.secretName !== "") {
    throw new UsageError(
      `${clusterName} is registered without an agent: run "meshctl cluster deregister ${clusterName}" first, or register it again with --standard`,
    );
  }
  const owner = existing?.status?.clusterUid ?? "";
  const isReplaceable = (await clusterRegistrations(management, { namespace }).find(clusterName))?.isReplaceable === true;
  if (owner !== "" && owner !== uid && !isReplaceable) {
    throw new UsageError(
      `another cluster is registered as ${clusterName} (UID ${owner}): use another name or, if that cluster no longer exists, run "meshctl cluster replace ${clusterName}" first`,
    );
  }
  const others = (await management.list(KubernetesCluster, { namespace })).items.filter(
    ({ metadata, status }) => metadata.name !== clusterName && status?.clusterUid === uid,
  );
  if (others[0] !== undefined) {
    const { name } = others[0].metadata;
    throw new UsageError(
      `this cluster is registered as ${name}: use that name or, to give it another one, run "meshctl cluster deregister ${name}" first`,
    );
  }
  return existing;
}

/** Whether meshctl has begun to register a cluster and not come to an end. */
export function isUnfinished(existing: KubernetesCluster | undefined): boolean {
  return existing?.metadata.annotations?.[REGISTERING] !== undefined;
}

/**
 * Creates the KubernetesCluster, unless somebody else has, and notes which cluster is being registered. Of two clusters that are
 * registered under one name at once, the second is refused: it throws UsageError.
 */
export async function reserveName(management: Cluster, naming: RegistrationOfName, declared: DeclaredFields): Promise<void> {
  const { clusterName, namespace, uid } = naming;
  try {
    await applyRegistration(management, naming, { annotations: { [REGISTERING]: uid }, declared });
  } catch (error) {
    if (!(error instanceof ClusterError && error.code === "Conflict")) throw error;
    const other = await management.get(KubernetesCluster, { name: clusterName, namespace });
    const registering = other?.metadata.annotations?.[REGISTERING];
    if (registering === undefined || registering === uid) {
      const { manager = "another field manager", fields = [] } = error.details;
      throw new UsageError(
        `KubernetesCluster ${namespace}/${clusterName}: ${fields.join(", ")} is set by ${manager}: leave out ${optionsOf(fields)}`,
      );
    }
    throw new UsageError(
      `another cluster is being registered as ${clusterName} (UID ${registering}): use another name or, if that registration was given up, ` +
        `run "meshctl cluster deregister ${clusterName} --force" first`,
    );
  }
}

/** The registration has come to its end. */
export async function completeRegistration(management: Cluster, naming: RegistrationOfName, declared: DeclaredFields): Promise<void> {
  await applyRegistration(management, naming, { annotations: {}, declared });
}

async function applyRegistration(
  management: Cluster,
  { clusterName, namespace, uid }: RegistrationOfName,
  { annotations, declared }: { readonly annotations: Readonly<Record<string, string>>; readonly declared: DeclaredFields },
): Promise<void> {
  const { apiVersion, kind } = KubernetesCluster;
  // A field manager for each cluster: what another one claims is a conflict, not an update.
  const fieldManager = `${MANAGER}-${uid}`;
  const earlier = await declaredEarlier(management, { name: clusterName, namespace }, fieldManager);
  const given = Object.entries(declared).filter(([, value]) => value !== undefined);
  const spec = { ...earlier, ...Object.fromEntries(given) };
  const metadata = { name: clusterName, namespace, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
  await management.apply({ apiVersion, kind, metadata, spec } as KubernetesCluster, { fieldManager });
}

/** What an earlier run has declared: server-side apply deletes what is not declared again, and without its mode a cluster would be written to. */
async function declaredEarlier(
  management: Cluster,
  ref: { readonly name: string; readonly namespace: string },
  fieldManager: string,
): Promise<DeclaredFields> {
  const { metadata, spec = {} } = (await management.get(KubernetesCluster, ref)) ?? {};
  const entry = metadata?.managedFields?.find(({ manager, operation }) => manager === fieldManager && operation === "Apply");
  const owned = Object.keys(((entry?.fieldsV1 as Readonly<Record<string, object>> | undefined)?.["f:spec"] ?? {}) as object);
  const kept = OPTIONS.flatMap(([field]) => (owned.includes(`f:${field}`) && spec[field] !== undefined ? [[field, spec[field]]] : []));
  return Object.fromEntries(kept) as DeclaredFields;
}

const OPTIONS = [
  ["clusterDomain", "--cluster-domain"],
  ["mode", "--mode"],
] as const;

/** The options that set these fields, such as `.spec.mode`. */
function optionsOf(fields: readonly string[]): string {
  const named = OPTIONS.filter(([field]) => fields.some((path) => path.endsWith(field))).map(([, option]) => option);
  return named.length === 0 ? OPTIONS.map(([, option]) => option).join(" and ") : named.join(" and ");
}
