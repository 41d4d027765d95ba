import { type KubernetesCluster, Secret } from "@isthmus/api";
import { type AnyResource, type Clock, UsageError } from "@isthmus/core";
import { createJoinToken, RELAY_SECRETS, secretsToJoin } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";
import { deleteIfSame, isMadeByMeshctl } from "./ownObjects.ts";

/** What an agent keeps the certificate in that it was issued. Source: the seeds. */
export const CLIENT_SECRET = "relay-client-tls-secret";

/** With what a cluster is to join. */
export type TokenPlan =
  /** Its agent has a certificate, and is connected with it. */
  | "certificate"
  /** A Secret that somebody copied there has the shared token. */
  | "shared"
  /** A join token is created for it. */
  | "join"
  /** With the shared token on each call: there are no client certificates. */
  | "calls";

export interface Places {
  readonly management: Cluster;
  readonly managementNamespace: string;
  readonly remote: Cluster;
  /** Of the agent. */
  readonly remoteNamespace: string;
}

/** Decides with what a cluster is to join. Throws UsageError for a Secret that is in the way. */
export async function planToken(
  { management, managementNamespace, remote, remoteNamespace }: Places,
  existing: KubernetesCluster | undefined,
  uid: string,
): Promise<TokenPlan> {
  const copied = await remote.get(Secret, { name: RELAY_SECRETS.token, namespace: remoteNamespace });
  const isRegistered = existing?.status?.clusterUid === uid;
  const isConnected = existing?.status?.conditions?.some(({ type, status }) => type === "Connected" && status === "True") === true;
  const hasCertificate = (await remote.get(Secret, { name: CLIENT_SECRET, namespace: remoteNamespace })) !== undefined;
  if (isRegistered && isConnected && hasCertificate) return "certificate";
  if (copied === undefined || isMadeByMeshctl(copied)) return "join";
  const place = `Secret ${remoteNamespace}/${RELAY_SECRETS.token} of this cluster`;
  const remedy = `delete it, so that meshctl can create a join token: kubectl -n ${remoteNamespace} delete secret ${RELAY_SECRETS.token}`;
  const shared = await management.get(Secret, { name: RELAY_SECRETS.token, namespace: managementNamespace });
  if (shared !== undefined && textIn(shared, "token") !== textIn(copied, "token")) {
    throw new UsageError(`${place} was not created by meshctl and does not have the shared token of the management cluster: ${remedy}`);
  }
  if (existing !== undefined) {
    throw new UsageError(
      `${place} has the shared token, which is not sufficient for a name that is registered or has a KubernetesCluster already: ${remedy}`,
    );
  }
  return "shared";
}

/** The shared token is for each call. Throws UsageError where somebody has put another one in its place. */
export async function checkCallToken({ management, managementNamespace, remote, remoteNamespace }: Places): Promise<void> {
  const [shared] = (await secretsToJoin(management, { namespace: managementNamespace, agentNamespace: remoteNamespace })).filter(isToken);
  const copied = await remote.get(Secret, { name: RELAY_SECRETS.token, namespace: remoteNamespace });
  if (copied === undefined || isMadeByMeshctl(copied) || shared === undefined || textIn(shared, "token") === textIn(copied, "token"))
    return;
  throw new UsageError(
    `Secret ${remoteNamespace}/${RELAY_SECRETS.token} of this cluster was not created by meshctl and does not have the shared token of the management cluster: ` +
      `delete it: kubectl -n ${remoteNamespace} delete secret ${RELAY_SECRETS.token}`,
  );
}

function isToken({ metadata }: Secret): boolean {
  return metadata.name === RELAY_SECRETS.token;
}

function textIn({ data = {} }: Secret, key: string): string {
  return Buffer.from(data[key] ?? "", "base64")
    .toString("utf8")
    .trim();
}

/** The Secrets that the agent needs and does not have from somebody else, with the shared token, a join token, or none. */
export async function agentSecretsToApply(
  { management, managementNamespace, remote, remoteNamespace }: Places,
  token: "shared" | MintedToken | undefined,
): Promise<readonly AnyResource[]> {
  const secrets = await secretsToJoin(management, {
    namespace: managementNamespace,
    agentNamespace: remoteNamespace,
    // Without a token only the root is needed: the token there stays as it is.
    ...(token === "shared" ? {} : { token: token?.token ?? "unused" }),
  });
  const needed = secrets.filter((secret) => token !== undefined || !isToken(secret));
  const found = await Promise.all(needed.map(({ metadata }) => remote.get(Secret, { name: metadata.name, namespace: remoteNamespace })));
  return needed
    .filter((_, i) => {
      const there = found[i];
      return there === undefined || isMadeByMeshctl(there);
    })
    .map((secret) => ({ ...secret }));
}

/** Deletes the certificate that the relay has issued to the agent of a cluster; one that a user provided stays. */
export async function forgetCertificate({ remote, remoteNamespace: namespace }: Places): Promise<void> {
  const found = await remote.get(Secret, { name: CLIENT_SECRET, namespace });
  if (found !== undefined && isIssued(found)) await deleteIfSame(remote, Secret, found);
}

/** Whether the relay has issued a certificate. */
export function isIssued({ metadata }: Secret): boolean {
  return metadata.annotations?.[ISSUED_BY] === "relay";
}

/** Source: packages/plane/src/agent/relaySecrets.ts. */
const ISSUED_BY = "isthmus.mesh/issued-by";

/** The root that the agent verifies the server with, as its Secret has it. Throws UsageError where there is none. */
export async function rootInCluster(remote: Cluster, namespace: string): Promise<string> {
  const secret = await remote.get(Secret, { name: RELAY_SECRETS.root, namespace });
  const root = secret === undefined ? "" : textIn(secret, "ca.crt");
  if (root === "")
    throw new UsageError(`Secret ${namespace}/${RELAY_SECRETS.root} of this cluster does not have the key ca.crt: delete it`);
  return root;
}

/** The root that agents are to verify the server with. Throws UsageError where the management cluster has none. */
export async function rootToGive(management: Cluster, namespace: string): Promise<string> {
  const [root] = await secretsToJoin(management, { namespace, agentNamespace: namespace, token: "unused" });
  return root === undefined ? "" : textIn(root, "ca.crt");
}

export interface MintedToken {
  readonly token: string;
  /** Of the Secret with its hash in the management cluster. */
  readonly secretName: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A join token by the clock of the management cluster's API server: that of this machine may be off by more than a token lives. */
export async function mintToken(
  { management, managementNamespace }: Pick<Places, "management" | "managementNamespace">,
  { clusterName, lifetimeMs, clock }: { readonly clusterName: string; readonly lifetimeMs: number; readonly clock: Pick<Clock, "now"> },
): Promise<MintedToken> {
  const made = await createJoinToken(management, { namespace: managementNamespace, clock, clusterName, lifetimeMs });
  return { ...made, secretName: `relay-join-token-${made.token.split(".")[1] ?? ""}` };
}
