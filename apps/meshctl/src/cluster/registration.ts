import { KubernetesCluster, Secret } from "@isthmus/api";
import { type AnyResource, type Clock, formatRef, isClusterName, type JsonObject, type Kind, refOf, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError, KUBECONFIG_SECRET_TYPE } from "@isthmus/plane";
import { OURS, policyRules, RemoteNamespace, remoteObjects, tokenSecretName } from "./remoteAccess.ts";

/** Field manager of what registration applies. */
const MANAGER = "meshctl";

/** A cluster's API server as a kubeconfig says how to reach it. */
export interface ApiServerAddress {
  readonly server: string;
  /** PEM; undefined: the certificate authorities that the system trusts. */
  readonly ca: string | undefined;
  /** The name that its certificate must bear; undefined: that of the address. */
  readonly tlsServerName?: string;
}

/** The same as a user's kubeconfig says it. */
export interface GivenAddress extends ApiServerAddress {
  /** The user takes whoever answers for the API server. */
  readonly isUnverified: boolean;
}

export interface Registration {
  readonly management: Cluster;
  readonly remote: Cluster;
  readonly clusterName: string;
  readonly managementNamespace: string;
  readonly remoteNamespace: string;
  readonly clusterDomain: string;
  readonly address: ApiServerAddress;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/**
 * Lets the server connect to a cluster: an account with the rights that it needs there, and in the management cluster the
 * kubeconfig Secret and the KubernetesCluster. May be repeated. Throws UsageError where something is in the way that is not ours.
 */
export async function registerCluster(registration: Registration): Promise<void> {
  const { management, remote, clusterName, managementNamespace, remoteNamespace, clusterDomain, address, clock, say } = registration;
  if (!isClusterName(clusterName)) {
    throw new UsageError(`${clusterName} is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens`);
  }
  say(`Registering cluster: ${clusterName}`);
  await ensure(remote, RemoteNamespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: remoteNamespace } });
  for (const { kind, resource } of remoteObjects(clusterName, remoteNamespace)) await applyOurs(remote, kind, resource);
  say(`ServiceAccount ${remoteNamespace}/${clusterName} has permissions to read the mesh and write its configuration`);
  const token = await accountToken(remote, { clusterName, namespace: remoteNamespace, clock });
  await storeKubeconfig(management, { name: clusterName, namespace: managementNamespace }, kubeconfigOf(clusterName, address, token));
  say(`Secret ${managementNamespace}/${clusterName} in the management cluster contains the kubeconfig`);
  const { apiVersion, kind } = KubernetesCluster;
  const metadata = { name: clusterName, namespace: managementNamespace };
  await management.apply({ apiVersion, kind, metadata, spec: { secretName: clusterName, clusterDomain } } as KubernetesCluster, {
    fieldManager: MANAGER,
    force: true,
  });
  await tellRules(management, { apiVersion, kind, metadata, status: { namespace: remoteNamespace, policyRules: policyRules() } });
  say(`Successfully registered cluster: ${clusterName}`);
}

/** Takes back all that registration made, and what of it is there; `remote` undefined: that cluster is not there any more. Throws UsageError with all that could not be removed. */
export async function deregisterCluster(
  registration: Omit<Registration, "address" | "clock" | "clusterDomain" | "remote"> & { readonly remote: Cluster | undefined },
): Promise<void> {
  const { management, remote, clusterName, managementNamespace, remoteNamespace, say } = registration;
  say(`Deregistering cluster: ${clusterName}`);
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
  if (problems.length > 0) throw new UsageError(`not everything could be deleted: ${problems.join("; ")}`);
  say(`Successfully deregistered cluster: ${clusterName}`);
}

async function ensure(cluster: Cluster, kind: Kind, resource: AnyResource): Promise<void> {
  const { name, namespace = "" } = resource.metadata;
  if ((await cluster.get(kind, { name, namespace })) === undefined) await cluster.create(resource);
}

/** Applies an object of ours; one of that name that somebody else made is left alone. */
async function applyOurs(cluster: Cluster, kind: Kind, resource: AnyResource): Promise<void> {
  const { name, namespace = "" } = resource.metadata;
  const found = await cluster.get(kind, { name, namespace });
  if (found !== undefined && !isOurs(found)) {
    throw new UsageError(
      `${formatRef(refOf(found))} exists and is not managed by meshctl: delete it, or add the label app=gloo-mesh if it may be replaced`,
    );
  }
  await cluster.apply(resource, { fieldManager: MANAGER, force: true });
}

function isOurs({ metadata: { labels = {} } }: { readonly metadata: AnyResource["metadata"] }): boolean {
  return Object.entries(OURS).every(([key, value]) => labels[key] === value);
}

/** The account's token. Kubernetes makes one only for a Secret that asks for it, since 1.24. */
async function accountToken(
  remote: Cluster,
  { clusterName, namespace, clock }: { readonly clusterName: string; readonly namespace: string; readonly clock: Clock },
): Promise<string> {
  const name = tokenSecretName(clusterName);
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: OURS, annotations: { "kubernetes.io/service-account.name": clusterName } },
    type: "kubernetes.io/service-account-token",
  };
  await ensure(remote, Secret, secret as AnyResource);
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
    await clock.sleep(POLL_MS);
  }
}

async function storeKubeconfig(
  management: Cluster,
  ref: { readonly name: string; readonly namespace: string },
  text: string,
): Promise<void> {
  const data = { kubeconfig: btoa(text) };
  const found = await management.get(Secret, ref);
  if (found === undefined) {
    const { apiVersion, kind } = Secret;
    await management.create({ apiVersion, kind, metadata: { ...ref, labels: OURS }, type: KUBECONFIG_SECRET_TYPE, data } as Secret);
    return;
  }
  if (found.type !== KUBECONFIG_SECRET_TYPE) {
    throw new UsageError(
      `Secret ${ref.namespace}/${ref.name} in the management cluster exists and is not a kubeconfig Secret of Gloo Mesh (type ${found.type ?? "none"}): delete or rename it`,
    );
  }
  const { managedFields: _, ...metadata } = found.metadata;
  if (found.data?.["kubeconfig"] !== data.kubeconfig) await management.update({ ...found, metadata, data } as Secret);
}

/** What the server has said there already stays. */
async function tellRules(management: Cluster, status: AnyResource): Promise<void> {
  try {
    await management.applyStatus(status, { fieldManager: MANAGER });
  } catch (error) {
    if (!(error instanceof ClusterError && error.code === "Conflict")) throw error;
  }
}

/** A kubeconfig of one cluster, context and user, all of its name. JSON is YAML. */
function kubeconfigOf(name: string, { server, ca, tlsServerName }: ApiServerAddress, token: string): string {
  const cluster: JsonObject = {
    server,
    ...(ca === undefined ? {} : { "certificate-authority-data": btoa(ca) }),
    ...(tlsServerName === undefined ? {} : { "tls-server-name": tlsServerName }),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: { token } }],
    "current-context": name,
  });
}

/**
 * The address under which the server reaches an API server, where it is another than the user's; its certificate must be from the same
 * authority and bear the same name. Source: published registration, `--api-server-address`. Throws UsageError, also for an API server that
 * the user's kubeconfig does not verify: the account's token would go to whoever answers.
 */
export function addressFor({ isUnverified, ...address }: GivenAddress, wanted: string | undefined): ApiServerAddress {
  const before = new URL(address.server);
  if (isUnverified || before.protocol !== "https:") {
    throw new UsageError(
      `the kubeconfig does not verify the server certificate of ${address.server}, which the management server requires: use ` +
        "certificate-authority-data instead of insecure-skip-tls-verify, and tls-server-name if the certificate has another name",
    );
  }
  if (wanted === undefined) return address;
  if (!URL.canParse(`https://${wanted}`)) throw new UsageError(`--api-server-address ${wanted}: must be HOST or HOST:PORT`);
  const after = new URL(`https://${wanted}`);
  const port = after.port || (/:\d+$/.test(wanted) ? "" : before.port);
  const server = `https://${after.hostname}${port === "" ? "" : `:${port}`}`;
  const name = address.tlsServerName ?? before.hostname.replace(/^\[|\]$/g, "");
  return { ...address, server, ...(name === after.hostname ? {} : { tlsServerName: name }) };
}

const TOKEN_WAIT_MS = 60_000;
const POLL_MS = 250;
