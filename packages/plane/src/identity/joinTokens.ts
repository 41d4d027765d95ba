import { JOIN_TOKEN_LABEL, Secret } from "@isthmus/api";
import { type Clock, isClusterName, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { randomText } from "../runtime/randomText.ts";
import { type SecretData, secretOf, secretTexts } from "./secretData.ts";

/** The longest life that may be asked for: a token is for joining, not for keeping. Source: field-notes X1. */
const LONGEST_LIFETIME_MS = 24 * 3_600_000;

/** Tells join tokens from the shared one, and a person what it is. `isthmus-join.ID.SECRET`. */
const PREFIX = "isthmus-join";
const NAME_PREFIX = "relay-join-token-";

/** The id in the name of a join token's Secret. */
export function joinTokenId(secretName: string): string {
  return secretName.slice(NAME_PREFIX.length);
}

/** A join token that is still good: the same shape as the relay's own `JoinToken`. */
export interface StoredJoinTokenRecord {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Uses it up. False: somebody else was faster. */
  use(): Promise<boolean>;
}

export interface JoinTokenKeeper {
  find(token: string, clusterName: string): Promise<StoredJoinTokenRecord | { readonly problem: string } | undefined>;
}

interface Place {
  readonly namespace: string;
  readonly clock: Pick<Clock, "now">;
}

/** Join tokens are kept as Secrets of the management cluster, which hold their hash and not the token. One is used up by deleting exactly the version that was checked: the API server lets one replica do that. */
export function keepJoinTokens(cluster: Cluster, { namespace, clock }: Place): JoinTokenKeeper {
  return {
    async find(token, clusterName) {
      const [prefix, id = "", secret = "", ...rest] = token.split(".");
      if (prefix !== PREFIX || rest.length > 0 || !/^[a-z0-9]{12}$/.test(id) || secret === "") return undefined;
      const kept = await cluster.get(Secret, { name: NAME_PREFIX + id, namespace });
      const data: SecretData = kept === undefined ? {} : secretTexts(kept);
      // Also where there is none: an answer takes as long for an unknown id as for a wrong secret.
      const isRight = isEqual(await hashOf(token), data["hash"] ?? "");
      if (kept === undefined || !isRight) return undefined;
      if (data["cluster"] !== clusterName) return { problem: `the join token is not for ${clusterName}` };
      const expiresAt = Date.parse(data["expires"] ?? "");
      // What cannot be read is not good for ever.
      if (!(clock.now() < expiresAt)) return { problem: `the join token for ${clusterName} has expired: create a new one` };
      return { createdAt: Date.parse(data["created"] ?? ""), use: () => used(cluster, kept) };
    },
  };
}

async function used(cluster: Cluster, { apiVersion, kind, metadata }: Secret): Promise<boolean> {
  const { name, namespace = "", uid, resourceVersion } = metadata;
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  try {
    await cluster.delete({ apiVersion, kind, name, namespace, clusterName: "" }, preconditions);
    return true;
  } catch (error) {
    if (error instanceof ClusterError && (error.code === "NotFound" || error.code === "Conflict")) return false;
    throw error;
  }
}

export interface NewJoinToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Makes a join token for one cluster, and deletes those of all clusters that have expired. Throws UsageError for a name or a life that cannot be. */
export async function createJoinToken(
  cluster: Cluster,
  { namespace, clock, clusterName, lifetimeMs }: Place & { readonly clusterName: string; readonly lifetimeMs: number },
): Promise<NewJoinToken> {
  if (!isClusterName(clusterName)) {
    throw new UsageError(`${clusterName} is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens`);
  }
  if (!(lifetimeMs > 0 && lifetimeMs <= LONGEST_LIFETIME_MS)) throw new UsageError("the lifetime of a join token must be at most 24h");
  await deleteExpired(cluster, { namespace, clock });
  const id = randomText(12, "abcdefghijklmnopqrstuvwxyz0123456789");
  const token = `${PREFIX}.${id}.${randomText(43)}`;
  const now = clock.now();
  const expiresAt = now + lifetimeMs;
  const secret = secretOf(
    { name: NAME_PREFIX + id, namespace },
    {
      hash: await hashOf(token),
      cluster: clusterName,
      created: new Date(now).toISOString(),
      expires: new Date(expiresAt).toISOString(),
    },
  );
  const labels = { ...secret.metadata.labels, [JOIN_TOKEN_LABEL]: clusterName };
  await cluster.create({ ...secret, metadata: { ...secret.metadata, labels } });
  return { token, expiresAt };
}

async function deleteExpired(cluster: Cluster, { namespace, clock }: Place): Promise<void> {
  const labels = { matchExpressions: [{ key: JOIN_TOKEN_LABEL, operator: "Exists" as const }] };
  for (const secret of (await cluster.list(Secret, { namespace, labels })).items) {
    if (!(clock.now() < Date.parse(secretTexts(secret)["expires"] ?? ""))) await used(cluster, secret);
  }
}

async function hashOf(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares two hashes in a time that says nothing about how much of them is equal. */
function isEqual(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ (other.charCodeAt(i) || 0);
  return difference === 0;
}
