import { UsageError } from "@isthmus/core";
import type { SecretData } from "./secretData.ts";

/** Names of the Secrets that hold the relay's identity, in the namespace of the management plane. Source: the seeds. */
export const RELAY_SECRETS = {
  root: "relay-root-tls-secret",
  signing: "relay-tls-signing-secret",
  server: "relay-server-tls-secret",
  token: "relay-identity-token-secret",
} as const;

/** Our own: the identity that we made, with the keys of its roots. No agent ever needs it. */
export const GENERATED_SECRET = "relay-generated-identity-secret";

/** A certificate chain and its key, PEM. */
export interface CertificateKeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** What the relay server needs to be known by, PEM: the same shape as the relay's own `ServerIdentity`. */
export interface RelayIdentity {
  readonly root: string;
  readonly signing: CertificateKeyPair | undefined;
  readonly server: CertificateKeyPair;
}

/** An identity that we made: the same shape as the relay's own `MadeIdentity`. */
export interface GeneratedIdentity extends RelayIdentity {
  readonly signing: CertificateKeyPair;
  readonly roots: {
    readonly current: CertificateKeyPair;
    readonly next?: CertificateKeyPair;
    readonly previous?: string;
    readonly since?: number;
  };
}

/** The identity that the Secrets hold, by name; undefined when there is none of them. Throws UsageError naming Secret and key when something is missing. */
export function identityIn(secrets: ReadonlyMap<string, SecretData>, namespace: string): RelayIdentity | undefined {
  const [root, signing, server] = [RELAY_SECRETS.root, RELAY_SECRETS.signing, RELAY_SECRETS.server].map((name) => secrets.get(name));
  if (root === undefined && signing === undefined && server === undefined) return undefined;
  if (server === undefined) throw missing(namespace, RELAY_SECRETS.server, "tls.crt, tls.key and ca.crt of the server certificate");
  const roots = root?.["ca.crt"] ?? server["ca.crt"];
  if (roots === undefined) throw missing(namespace, RELAY_SECRETS.root, "ca.crt, the root that agents trust");
  return {
    root: roots,
    server: keyed(namespace, RELAY_SECRETS.server, server),
    signing: signing === undefined ? undefined : keyed(namespace, RELAY_SECRETS.signing, signing),
  };
}

/** The token in its Secret. Throws UsageError when there is none in it, or one that could be guessed. */
export function tokenIn(data: SecretData, namespace: string): string {
  const token = data["token"]?.trim();
  if (token === undefined || token === "") {
    throw new UsageError(
      `Secret ${namespace}/${RELAY_SECRETS.token} does not have the key token: add it, or delete the Secret to have a new one generated`,
    );
  }
  return checkedToken(token, `key token of Secret ${namespace}/${RELAY_SECRETS.token}`);
}

/** A token with fewer characters could be guessed. */
const LEAST_TOKEN = 16;

/** Base64 of 24 random bytes. A token with fewer characters may be one that a person made up. */
const GOOD_TOKEN = 32;

/** A relay identity token that is long enough. `place` says where it is from. Throws UsageError. */
export function checkedToken(token: string, place: string): string {
  if (token.length >= LEAST_TOKEN) return token;
  throw new UsageError(
    `${place} has ${token.length} characters, but a relay identity token needs at least ${LEAST_TOKEN}, or it could be guessed: use a random one, such as from "openssl rand -base64 32", here and in the agents`,
  );
}

/** What is to be said of a token that is long enough to be used, but not to be good; undefined for a good one. */
export function tokenWarning(token: string): string | undefined {
  if (token.length >= GOOD_TOKEN) return undefined;
  return `the relay identity token has ${token.length} characters: replace a token of fewer than ${GOOD_TOKEN} characters by a random one, such as from "openssl rand -base64 32"`;
}

/** What the published Secrets hold for an identity that we made. */
export function publishedSecrets({ root, signing, server }: GeneratedIdentity): ReadonlyMap<string, SecretData> {
  const of = ({ certificate, key }: CertificateKeyPair) => ({ "tls.crt": certificate, "tls.key": key, "ca.crt": root });
  // In this order: who is to trust a certificate hears of its root before the certificate is used.
  return new Map<string, SecretData>([
    [RELAY_SECRETS.root, { "ca.crt": root }],
    [RELAY_SECRETS.signing, of(signing)],
    [RELAY_SECRETS.server, of(server)],
  ]);
}

/** An identity that we made, as its Secret keeps it. */
export function generatedData({ root, signing, server, roots: { current, next, previous, since } }: GeneratedIdentity): SecretData {
  return {
    "ca.crt": root,
    ...pair("root", current),
    ...(next === undefined ? {} : pair("next-root", next)),
    ...(previous === undefined ? {} : { "previous-root.crt": previous }),
    ...(since === undefined ? {} : { since: String(since) }),
    ...pair("signing", signing),
    ...pair("server", server),
  };
}

/** The same, read back. Throws UsageError when it is not whole. */
export function generatedIn(data: SecretData, namespace: string): GeneratedIdentity {
  const need = (name: string): CertificateKeyPair => {
    const found = pairIn(data, name);
    if (found === undefined) throw missing(namespace, GENERATED_SECRET, `${name}.crt and ${name}.key`);
    return found;
  };
  const root = data["ca.crt"];
  if (root === undefined) throw missing(namespace, GENERATED_SECRET, "ca.crt");
  const next = pairIn(data, "next-root");
  const previous = data["previous-root.crt"];
  const roots = {
    current: need("root"),
    ...(next === undefined ? {} : { next }),
    ...(previous === undefined ? {} : { previous }),
    ...(data["since"] === undefined ? {} : { since: Number(data["since"]) }),
  };
  return { root, roots, signing: need("signing"), server: need("server") };
}

function pair(name: string, { certificate, key }: CertificateKeyPair): SecretData {
  return { [`${name}.crt`]: certificate, [`${name}.key`]: key };
}

function pairIn(data: SecretData, name: string): CertificateKeyPair | undefined {
  const [certificate, key] = [data[`${name}.crt`], data[`${name}.key`]];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

function keyed(namespace: string, name: string, data: SecretData): CertificateKeyPair {
  const found = pairIn(data, "tls");
  if (found === undefined) throw missing(namespace, name, "tls.crt and tls.key");
  return found;
}

function missing(namespace: string, name: string, what: string): UsageError {
  return new UsageError(
    `Secret ${namespace}/${name} does not have ${what}: add it, or delete the relay-*-tls-secret and ${GENERATED_SECRET} Secrets to have new ones generated`,
  );
}
