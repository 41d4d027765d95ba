import { UsageError } from "@isthmus/core";
import type { Cluster } from "../ports.ts";
import { ensureSecret, readSecret, type SecretData } from "../secretData.ts";

/** Names of the Secrets that hold the relay's identity, in the namespace of the management plane. Source: the seeds. */
export const RELAY_SECRETS = {
  root: "relay-root-tls-secret",
  signing: "relay-tls-signing-secret",
  server: "relay-server-tls-secret",
  token: "relay-identity-token-secret",
} as const;

/** A certificate chain and its key, PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** What the relay server needs to be known by, PEM: the same shape as the relay's own `ServerIdentity`. */
export interface RelayIdentity {
  readonly root: string;
  readonly signing: KeyedCertificate | undefined;
  readonly server: KeyedCertificate;
}

/**
 * The identity of the relay server, from its Secrets. When none of them exists they are created from `create`; existing ones
 * are never overwritten. Throws UsageError when only some of them exist, as a key that somebody keeps elsewhere cannot be guessed.
 */
export async function relayIdentity(
  cluster: Cluster,
  { namespace, create }: { readonly namespace: string; readonly create: () => Promise<RelayIdentity> },
  signal?: AbortSignal,
): Promise<RelayIdentity> {
  const read = (name: string) => readSecret(cluster, { name, namespace }, signal);
  const [root, signing, server] = [await read(RELAY_SECRETS.root), await read(RELAY_SECRETS.signing), await read(RELAY_SECRETS.server)];
  if (root === undefined && signing === undefined && server === undefined) return created(cluster, namespace, await create(), signal);
  if (server === undefined) throw missing(namespace, RELAY_SECRETS.server, "tls.crt, tls.key and ca.crt of the server certificate");
  const roots = root?.["ca.crt"] ?? server["ca.crt"];
  if (roots === undefined) throw missing(namespace, RELAY_SECRETS.root, "ca.crt, the root that agents trust");
  return {
    root: roots,
    server: keyed(namespace, RELAY_SECRETS.server, server),
    signing: signing === undefined ? undefined : keyed(namespace, RELAY_SECRETS.signing, signing),
  };
}

/** The relay identity token: from `given` (an environment variable), else from its Secret, which is created with `create` when absent. */
export async function relayToken(
  cluster: Cluster,
  { namespace, given, create }: { readonly namespace: string; readonly given: string | undefined; readonly create: () => string },
  signal?: AbortSignal,
): Promise<string> {
  if (given !== undefined && given !== "") return given;
  const data = await ensureSecret(cluster, { name: RELAY_SECRETS.token, namespace }, async () => ({ token: create() }), signal);
  const token = data["token"]?.trim();
  if (token === undefined || token === "") throw missing(namespace, RELAY_SECRETS.token, "the key token");
  return token;
}

async function created(cluster: Cluster, namespace: string, made: RelayIdentity, signal?: AbortSignal): Promise<RelayIdentity> {
  const ca = made.root;
  await ensureSecret(cluster, { name: RELAY_SECRETS.root, namespace }, async () => ({ "ca.crt": ca }), signal);
  if (made.signing !== undefined) {
    const { certificate, key } = made.signing;
    await ensureSecret(
      cluster,
      { name: RELAY_SECRETS.signing, namespace },
      async () => ({ "tls.crt": certificate, "tls.key": key, "ca.crt": ca }),
      signal,
    );
  }
  const { certificate, key } = made.server;
  await ensureSecret(
    cluster,
    { name: RELAY_SECRETS.server, namespace },
    async () => ({ "tls.crt": certificate, "tls.key": key, "ca.crt": ca }),
    signal,
  );
  return made;
}

function keyed(namespace: string, name: string, data: SecretData): KeyedCertificate {
  const certificate = data["tls.crt"];
  const key = data["tls.key"];
  if (certificate === undefined || key === undefined) throw missing(namespace, name, "tls.crt and tls.key");
  return { certificate, key };
}

function missing(namespace: string, name: string, what: string): UsageError {
  return new UsageError(
    `Secret ${name}.${namespace} lacks ${what}: add it, or delete the relay-*-tls-secret Secrets to have new ones made`,
  );
}
