import { KubernetesCluster } from "@isthmus/api";
import { type AnyResource, type Clock, UsageError } from "@isthmus/core";
import { RELAY_SECRETS, secretsToJoin } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";
import { agentObjects } from "./agentManifest.ts";
import { type AgentValues, agentObjectsWith } from "./agentWithValues.ts";
import { clockAhead, offsetOf } from "./clocks.ts";
import { findRelayAddress, type RelayAddress } from "./relayAddress.ts";
import { type MintedToken, mintToken } from "./relaySecrets.ts";

/** A cluster that somebody else registers with what is printed. */
export interface PrintedRegistration {
  readonly management: Cluster;
  readonly managementNamespace: string;
  readonly remoteNamespace: string;
  readonly clusterName: string;
  readonly clusterDomain: string;
  readonly mode: string | undefined;
  readonly relay: Pick<RelayAddress, "host" | "port"> | undefined;
  readonly authority: string | undefined;
  /** Whether the agent obtains a certificate; else each of its calls carries the shared token. */
  readonly clientCertificates: boolean;
  /** Values of the agent chart; undefined: its defaults. */
  readonly values: AgentValues | undefined;
}

/** Everything that is applied in the cluster: with a join token that was made for it, and until when that is good (ms since 1970), or with the shared one. */
export async function joinObjects(
  registration: PrintedRegistration,
  { lifetimeMs, clock }: { readonly lifetimeMs: number; readonly clock: Clock },
): Promise<{ readonly objects: readonly AnyResource[]; readonly expiresAt: number | undefined }> {
  const { management, managementNamespace, remoteNamespace, clusterName } = registration;
  const agent = await objectsOf(registration);
  const existing = await management.get(KubernetesCluster, { name: clusterName, namespace: managementNamespace });
  if ((existing?.spec?.secretName ?? "") !== "") {
    throw new UsageError(`${clusterName} is registered without an agent: run "meshctl cluster deregister ${clusterName}" first`);
  }
  if (existing !== undefined && registration.mode !== undefined && (existing.spec?.mode ?? "manage") !== registration.mode) {
    throw new UsageError(
      `KubernetesCluster ${managementNamespace}/${clusterName} exists with mode ${existing.spec?.mode ?? "manage"}: leave out --mode, or set it there with "meshctl cluster pause" or "resume"`,
    );
  }
  if (existing === undefined) await management.create(registrationObject(registration) as KubernetesCluster);
  const minted = registration.clientCertificates ? await minting() : undefined;
  const secrets = await secretsOf(registration, minted?.token);
  const [first, ...rest] = withNamespace(agent, remoteNamespace);
  return { objects: [...(first === undefined ? [] : [first]), ...secrets, ...rest], expiresAt: minted?.expiresAt };

  async function minting(): Promise<MintedToken> {
    const ahead = clockAhead(clock, await offsetOf(management, trialIn(managementNamespace), clock));
    return mintToken(registration, { clusterName, lifetimeMs, clock: ahead });
  }
}

/** What may be committed: for the management cluster, and for the other one. No secret is in it. */
export async function committedObjects(
  registration: PrintedRegistration,
): Promise<{ readonly management: readonly AnyResource[]; readonly remote: readonly AnyResource[] }> {
  const { remoteNamespace } = registration;
  const agent = await objectsOf(registration);
  const secrets = await secretsOf(registration, "unused");
  const root = secrets.filter(({ metadata }) => metadata.name === RELAY_SECRETS.root);
  const [first, ...rest] = withNamespace(agent, remoteNamespace);
  return { management: [registrationObject(registration)], remote: [...(first === undefined ? [] : [first]), ...root, ...rest] };
}

async function secretsOf(
  { management, managementNamespace: namespace, remoteNamespace: agentNamespace }: PrintedRegistration,
  token: string | undefined,
): Promise<readonly AnyResource[]> {
  const given = token === undefined ? {} : { token };
  return (await secretsToJoin(management, { namespace, agentNamespace, ...given })).map((secret) => ({ ...secret }));
}

async function objectsOf(registration: PrintedRegistration): Promise<readonly AnyResource[]> {
  const { management, managementNamespace, remoteNamespace, clusterName, relay: given, authority, clientCertificates } = registration;
  const found = given === undefined ? await findRelayAddress(management, managementNamespace) : undefined;
  const relay = {
    authority: `gloo-mesh-mgmt-server.${managementNamespace}`,
    ...found,
    ...given,
    ...(authority === undefined ? {} : { authority }),
  };
  const settings = { clusterName, namespace: remoteNamespace, managementNamespace, relay: relay as RelayAddress, clientCertificates };
  return registration.values === undefined ? agentObjects(settings) : agentObjectsWith(settings, registration.values);
}

function withNamespace(objects: readonly AnyResource[], name: string): readonly AnyResource[] {
  const isThere = objects.some(({ kind }) => kind === "Namespace");
  return isThere ? objects : [{ apiVersion: "v1", kind: "Namespace", metadata: { name } }, ...objects];
}

function registrationObject({ clusterName, managementNamespace, clusterDomain, mode }: PrintedRegistration): AnyResource {
  const { apiVersion, kind } = KubernetesCluster;
  const spec = { clusterDomain, ...(mode === undefined ? {} : { mode }) };
  return { apiVersion, kind, metadata: { name: clusterName, namespace: managementNamespace }, spec };
}

function trialIn(namespace: string): AnyResource {
  const { apiVersion, kind } = KubernetesCluster;
  return { apiVersion, kind, metadata: { name: `clock-${Date.now().toString(36)}`, namespace }, spec: {} };
}
