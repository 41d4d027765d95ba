import { KubernetesCluster } from "@isthmus/api";
import { type AnyResource, UsageError } from "@isthmus/core";
import { clusterRegistrations } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { RemoteNamespace } from "../remoteAccess.ts";
import { MANAGER } from "./ownObjects.ts";

/** Annotation on a KubernetesCluster whose registration by meshctl is under way: the UID of the cluster that is being registered. */
const REGISTERING = "isthmus.mesh/registering";

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

/** The registration of a name as it is now, for an agent. Throws UsageError when another cluster has the name, or this one another name. */
export async function checkClusterName(management: Cluster, naming: RegistrationOfName): Promise<KubernetesCluster | undefined> {
  const { clusterName, namespace } = naming;
  const existing = await management.get(KubernetesCluster, { name: clusterName, namespace });
  if (existing?.spec?.secretName !== undefined && existing.spec.secretName !== "") {
    throw new UsageError(
      `${clusterName} is registered without an agent: run "meshctl cluster deregister ${clusterName}" first, or register it again with --standard`,
    );
  }
  await checkOwner(management, naming, existing);
  return existing;
}

/** The same for a cluster that the server connects to: it throws UsageError as well where an agent has the name, which would go on to write. */
export async function checkNameWithoutAgent(management: Cluster, naming: RegistrationOfName): Promise<KubernetesCluster | undefined> {
  const { clusterName, namespace, uid } = naming;
  const existing = await management.get(KubernetesCluster, { name: clusterName, namespace });
  await checkOwner(management, naming, existing);
  const isStandard = (existing?.spec?.secretName ?? "") !== "";
  if (!isStandard && (existing?.status?.clusterUid === uid || isUnfinished(existing))) {
    throw new UsageError(
      `${clusterName} is registered with an agent, which also writes: run "meshctl cluster deregister ${clusterName}" first, or register it again without --standard`,
    );
  }
  return existing;
}

async function checkOwner(
  management: Cluster,
  { clusterName, namespace, uid }: RegistrationOfName,
  existing: KubernetesCluster | undefined,
): Promise<void> {
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
}

/**
 * Throws UsageError where a cluster that is to be deregistered does not answer, is not the one of that name, or is registered under another one:
 * what is deleted in the management cluster must not depend on one that does not exist any more.
 */
export async function checkDeregistered(
  management: Cluster,
  remote: Cluster,
  { clusterName, namespace }: Omit<RegistrationOfName, "uid">,
): Promise<void> {
  const own = await uidOfCluster(remote).catch((error: unknown) => {
    if (!(error instanceof ClusterError)) throw error;
    // The remote cluster says its name itself.
    throw new UsageError(error.code === "Unavailable" ? `${error.message}; if it no longer exists, add --force` : error.message);
  });
  const { items } = await management.list(KubernetesCluster, { namespace });
  const registration = items.find(({ metadata }) => metadata.name === clusterName);
  const uid = registration?.status?.clusterUid || registration?.metadata.annotations?.[REGISTERING];
  if (uid !== undefined && uid !== own) {
    throw new UsageError(
      `this is not the cluster that is registered as ${clusterName} (its UID is ${own}, not ${uid}): select the right one with --remote-context, or add --force if it no longer exists`,
    );
  }
  const other = items.find(({ metadata, status }) => metadata.name !== clusterName && status?.clusterUid === own);
  if (uid === undefined && other !== undefined) {
    throw new UsageError(
      `this cluster is registered as ${other.metadata.name}: use that name, or select another one with --remote-context`,
    );
  }
}

/** Whether another cluster has a name by now, or is being registered under it. */
export async function isTaken(management: Cluster, { clusterName: name, namespace, uid }: RegistrationOfName): Promise<boolean> {
  const found = await management.get(KubernetesCluster, { name, namespace });
  return [found?.metadata.annotations?.[REGISTERING], found?.status?.clusterUid].some((other) => (other ?? "") !== "" && other !== uid);
}

/** Whether meshctl has begun to register a cluster and not come to an end. */
export function isUnfinished(existing: KubernetesCluster | undefined): boolean {
  return existing?.metadata.annotations?.[REGISTERING] !== undefined;
}

/**
 * Creates the KubernetesCluster, unless somebody else has, and notes which cluster is being registered. Of two clusters that are
 * registered under one name at once, the second is refused: it throws UsageError.
 */
export async function reserveName(
  management: Cluster,
  naming: RegistrationOfName,
  declared: DeclaredFields,
  { dryRun = false } = {},
): Promise<void> {
  const { clusterName, namespace, uid } = naming;
  let reserved: Reserved;
  try {
    reserved = await applyRegistration(management, naming, { annotations: { [REGISTERING]: uid }, declared, dryRun });
  } catch (error) {
    if (!(error instanceof ClusterError && error.code === "Conflict")) throw error;
    const other = await management.get(KubernetesCluster, { name: clusterName, namespace });
    const registering = other?.metadata.annotations?.[REGISTERING];
    if (registering === undefined || registering === uid) {
      throw declaredByOthers(naming, error);
    }
    throw new UsageError(
      `another cluster is being registered as ${clusterName} (UID ${registering}): use another name or, if that registration was given up, ` +
        `run "meshctl cluster deregister ${clusterName} --force" first`,
    );
  }
  try {
    // Another cluster's registration may have come to its end since the name was looked at: then nothing of it conflicts.
    await checkOwner(management, naming, reserved.object);
  } catch (error) {
    if (!dryRun) await applyFields(management, naming, { annotations: {}, spec: reserved.earlier, dryRun });
    throw error;
  }
}

/** What to do about a field that somebody else declares. */
function declaredByOthers({ clusterName, namespace }: RegistrationOfName, { details }: ClusterError): UsageError {
  const { manager = "another field manager", fields = [] } = details;
  const isSecret = fields.some((path) => path.endsWith("secretName"));
  const remedy = isSecret ? `set it to ${clusterName} there, or remove it` : `leave out ${optionsOf(fields)}`;
  return new UsageError(`KubernetesCluster ${namespace}/${clusterName}: ${fields.join(", ")} is set by ${manager}: ${remedy}`);
}

/**
 * Declares a cluster that the server connects to with the kubeconfig in the Secret of its name, or only tries to. What others have declared of
 * it stays as it is; throws UsageError where that is something else.
 */
export async function declareWithoutAgent(
  management: Cluster,
  { naming, existing, clusterDomain }: StandardDeclaration,
  { dryRun = false } = {},
): Promise<AnyResource> {
  const { clusterName: name, namespace } = naming;
  const { apiVersion, kind } = KubernetesCluster;
  const earlier = declaredIn(existing, MANAGER);
  const isDeclared = existing?.spec?.clusterDomain !== undefined;
  const domain = clusterDomain ?? earlier.clusterDomain ?? (isDeclared ? undefined : "cluster.local");
  const spec = { ...earlier, secretName: name, ...(domain === undefined ? {} : { clusterDomain: domain }) };
  try {
    const wanted = { apiVersion, kind, metadata: { name, namespace }, spec } as KubernetesCluster;
    return await management.apply(wanted, { fieldManager: MANAGER, dryRun });
  } catch (error) {
    if (error instanceof ClusterError && error.code === "Conflict") throw declaredByOthers(naming, error);
    throw error;
  }
}

/** A cluster that the server connects to. */
export interface StandardDeclaration {
  readonly naming: RegistrationOfName;
  readonly existing: KubernetesCluster | undefined;
  /** Undefined: what is declared, else cluster.local. */
  readonly clusterDomain: string | undefined;
}

/** The registration has come to its end. */
export async function completeRegistration(management: Cluster, naming: RegistrationOfName, declared: DeclaredFields): Promise<void> {
  await applyRegistration(management, naming, { annotations: {}, declared, dryRun: false });
}

interface Reserved {
  readonly object: KubernetesCluster;
  /** What this cluster had declared before. */
  readonly earlier: DeclaredFields;
}

interface AppliedFields {
  readonly annotations: Readonly<Record<string, string>>;
  readonly dryRun: boolean;
}

async function applyRegistration(
  management: Cluster,
  naming: RegistrationOfName,
  { annotations, declared, dryRun }: AppliedFields & { readonly declared: DeclaredFields },
): Promise<Reserved> {
  const { clusterName: name, namespace, uid } = naming;
  const earlier = declaredIn(await management.get(KubernetesCluster, { name, namespace }), managerOf(uid));
  const given = Object.entries(declared).filter(([, value]) => value !== undefined);
  const spec = { ...earlier, ...Object.fromEntries(given) };
  return { object: await applyFields(management, naming, { annotations, spec, dryRun }), earlier };
}

function applyFields(
  management: Cluster,
  { clusterName: name, namespace, uid }: RegistrationOfName,
  { annotations, spec, dryRun }: AppliedFields & { readonly spec: DeclaredFields },
): Promise<KubernetesCluster> {
  const { apiVersion, kind } = KubernetesCluster;
  const metadata = { name, namespace, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
  const fields = { apiVersion, kind, metadata, spec } as KubernetesCluster;
  return management.apply(fields, { fieldManager: managerOf(uid), dryRun });
}

/** A field manager for each cluster: what another one claims is a conflict, not an update. */
function managerOf(uid: string): string {
  return `${MANAGER}-${uid}`;
}

/** What an earlier run has declared: server-side apply deletes what is not declared again, and without its mode a cluster would be written to. */
function declaredIn(existing: KubernetesCluster | undefined, fieldManager: string): DeclaredFields {
  const { metadata, spec = {} } = existing ?? {};
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
