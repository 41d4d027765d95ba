import { KubernetesCluster, Secret } from "@isthmus/api";
import { type AnyResource, type Clock, formatRef, isClusterName, type Kind, messageOf, refOf, UsageError } from "@isthmus/core";
import { KUBECONFIG_SECRET_TYPE } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { type ApiServerAddress, kubeconfigOf } from "./apiServerAddress.ts";
import { endedBy, interruptible, orInterrupted } from "./interruption.ts";
import { checkNameWithoutAgent, declareWithoutAgent, uidOfCluster } from "./register/clusterNames.ts";
import type { Hints } from "./register/hints.ts";
import { type Change, MANAGER, takeBack } from "./register/ownObjects.ts";
import { removeEmptyNamespace } from "./register/removeFoundations.ts";
import { isOurs, namespaceToCreate, OURS, policyRules, RemoteNamespace, remoteObjects, tokenSecretName } from "./remoteAccess.ts";

export interface Registration {
  readonly management: Cluster;
  readonly remote: Cluster;
  readonly clusterName: string;
  readonly managementNamespace: string;
  readonly remoteNamespace: string;
  /** Undefined: what the KubernetesCluster says, else cluster.local. */
  readonly clusterDomain: string | undefined;
  readonly address: ApiServerAddress;
  /** What is wrong with the clusters, or with the rights of their users; none when all is well. */
  readonly precheck: () => Promise<readonly string[]>;
  /** Undoes what was made when something fails. */
  readonly rollback: boolean;
  /** The clusters only tell what would be changed: no token is waited for. */
  readonly isDryRun: boolean;
  readonly hints: Hints;
  readonly clock: Clock;
  readonly say: (line: string) => void;
  /** Aborted when the user has ended the command. */
  readonly interrupt: AbortSignal;
}

/**
 * Lets the server connect to a cluster: an account with the rights that it needs there, and in the management cluster the
 * kubeconfig Secret and the KubernetesCluster. May be repeated. Throws UsageError where something is in the way that is not ours.
 */
export async function registerCluster(registration: Registration): Promise<void> {
  const changes: Change[] = [];
  const management = interruptible(registration.management, registration.interrupt);
  const remote = interruptible(registration.remote, registration.interrupt);
  try {
    const precheck = () => orInterrupted(registration.precheck, registration.interrupt);
    await makeRegistration({ ...registration, management, remote, precheck }, (change) => {
      // What is undone is no longer interrupted.
      changes.push({ ...change, cluster: change.cluster === remote ? registration.remote : registration.management });
    });
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof ClusterError)) throw error;
    // It says which of the two clusters it is.
    if (changes.length === 0) throw endedBy(error, messageOf(error));
    throw endedBy(error, `${messageOf(error)}\n${await undone(registration, changes)}`);
  }
}

async function makeRegistration(registration: Registration, changed: (change: Change) => void): Promise<void> {
  const { management, remote, clusterName, managementNamespace, remoteNamespace, clusterDomain, address, clock, say, interrupt } =
    registration;
  const { isDryRun } = registration;
  if (!isClusterName(clusterName)) {
    throw new UsageError(`${clusterName} is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens`);
  }
  const naming = { clusterName, namespace: managementNamespace, uid: await uidOfCluster(remote) };
  const existing = await checkNameWithoutAgent(management, naming);
  const problems = await registration.precheck();
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  const declaration = { naming, existing, clusterDomain };
  await declareWithoutAgent(management, declaration, { dryRun: true });
  say(`Registering cluster: ${clusterName}`);
  await ensure(remote, RemoteNamespace, namespaceToCreate(remoteNamespace), changed);
  for (const { kind, resource } of remoteObjects(clusterName, remoteNamespace)) await applyOurs(remote, kind, resource, changed);
  say(`ServiceAccount ${remoteNamespace}/${clusterName} has permissions to read the mesh and write its configuration`);
  const token = await accountToken(remote, { clusterName, namespace: remoteNamespace, clock, interrupt, isDryRun }, changed);
  const kubeconfig = kubeconfigOf(clusterName, address, token);
  await storeKubeconfig(management, { name: clusterName, namespace: managementNamespace }, kubeconfig, changed);
  say(`Secret ${managementNamespace}/${clusterName} in the management cluster contains the kubeconfig`);
  const applied = await declareWithoutAgent(management, declaration);
  noteChange({ cluster: management, kind: KubernetesCluster, applied, before: existing }, changed);
  const { apiVersion, kind } = KubernetesCluster;
  const metadata = { name: clusterName, namespace: managementNamespace };
  await tellRules(management, { apiVersion, kind, metadata, status: { namespace: remoteNamespace, policyRules: policyRules() } });
  say(`Successfully registered cluster: ${clusterName}`);
  say("Certificates of meshes need an agent for certificates alone in the cluster: install the chart gloo-mesh-agent with mode=standard");
}

/** Says how to take back what was made, or undoes it. */
async function undone(
  { remote, remoteNamespace, rollback, hints, clusterName }: Registration,
  changes: readonly Change[],
): Promise<string> {
  if (!rollback) return `To take back what was created:\n  ${hints.meshctl("cluster", "deregister", clusterName)}`;
  const madeNamespace = changes.some(({ kind, before }) => kind === RemoteNamespace && before === undefined);
  const problems = [...(await takeBack(changes.filter(({ kind }) => kind !== RemoteNamespace)))];
  if (madeNamespace) {
    try {
      const kept = await removeEmptyNamespace(remote, remoteNamespace);
      if (kept !== undefined) return `Rolled back: all that was created has been deleted.\n${kept}`;
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) return `Not everything could be rolled back: ${problems.join("; ")}`;
  return "Rolled back: all that was created has been deleted.";
}

type Changed = (change: Change) => void;

/** An object that was made or changed can be undone; one that was not needs none of it. */
function noteChange(change: Change, changed: Changed): void {
  if (change.applied.metadata.resourceVersion !== change.before?.metadata.resourceVersion) changed(change);
}

async function ensure(cluster: Cluster, kind: Kind, resource: AnyResource, changed: Changed): Promise<void> {
  const { name, namespace = "" } = resource.metadata;
  if ((await cluster.get(kind, { name, namespace })) !== undefined) return;
  const applied = await cluster.apply(resource, { fieldManager: MANAGER });
  changed({ cluster, kind: kind, applied, before: undefined });
}

/** Applies an object of ours; one of that name that somebody else made is left alone. */
async function applyOurs(cluster: Cluster, kind: Kind, resource: AnyResource, changed: Changed): Promise<void> {
  const { name, namespace = "" } = resource.metadata;
  const found = await cluster.get(kind, { name, namespace });
  if (found !== undefined && !isOurs(found)) {
    throw new UsageError(
      `${formatRef(refOf(found))} exists and is not managed by meshctl: delete it, or add the label app=gloo-mesh if it may be replaced`,
    );
  }
  const applied = await cluster.apply(resource, { fieldManager: MANAGER, force: true });
  noteChange({ cluster, kind: kind, applied, before: found }, changed);
}

/** The account's token. Kubernetes makes one only for a Secret that asks for it, since 1.24. */
async function accountToken(
  remote: Cluster,
  {
    clusterName,
    namespace,
    clock,
    interrupt,
    isDryRun,
  }: Pick<Registration, "clusterName" | "clock" | "interrupt" | "isDryRun"> & { readonly namespace: string },
  changed: Changed,
): Promise<string> {
  const name = tokenSecretName(clusterName);
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: OURS, annotations: { "kubernetes.io/service-account.name": clusterName } },
    type: "kubernetes.io/service-account-token",
  };
  await ensure(remote, Secret, secret as AnyResource, changed);
  if (isDryRun) return "";
  const until = clock.now() + TOKEN_WAIT_MS;
  for (;;) {
    const found = await remote.get(Secret, { name, namespace });
    if (found?.type !== secret.type)
      throw new UsageError(`Secret ${namespace}/${name} exists and is not a ServiceAccount token: delete it`);
    const token = found?.data?.["token"];
    if (token !== undefined && token !== "") return atob(token);
    if (clock.now() >= until) {
      throw new UsageError(
        `Secret ${namespace}/${name} received no token within ${TOKEN_WAIT_MS / 1000} s: check that kube-controller-manager runs`,
      );
    }
    await clock.sleep(POLL_MS, interrupt);
  }
}

async function storeKubeconfig(
  management: Cluster,
  ref: { readonly name: string; readonly namespace: string },
  text: string,
  changed: Changed,
): Promise<void> {
  const note = (applied: AnyResource, before: Secret | undefined): void => changed({ cluster: management, kind: Secret, applied, before });
  const data = { kubeconfig: btoa(text) };
  const found = await management.get(Secret, ref);
  if (found === undefined) {
    const { apiVersion, kind } = Secret;
    const made = { apiVersion, kind, metadata: { ...ref, labels: OURS }, type: KUBECONFIG_SECRET_TYPE, data } as Secret;
    note(await management.create(made), undefined);
    return;
  }
  if (found.type !== KUBECONFIG_SECRET_TYPE) {
    throw new UsageError(
      `Secret ${ref.namespace}/${ref.name} in the management cluster exists and is not a kubeconfig Secret of Gloo Mesh (type ${found.type ?? "none"}): delete or rename it`,
    );
  }
  const { managedFields: _, ...metadata } = found.metadata;
  if (found.data?.["kubeconfig"] !== data.kubeconfig) note(await management.update({ ...found, metadata, data } as Secret), found);
}

/** What the server has said there already stays. */
async function tellRules(management: Cluster, status: AnyResource): Promise<void> {
  try {
    await management.applyStatus(status, { fieldManager: MANAGER });
  } catch (error) {
    if (!(error instanceof ClusterError && error.code === "Conflict")) throw error;
  }
}

const TOKEN_WAIT_MS = 60_000;
const POLL_MS = 250;
