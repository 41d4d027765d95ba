import { Secret } from "@isthmus/api";
import { bytesOfBase64, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";

/** The texts that a Secret holds, by key. */
export type SecretData = Readonly<Record<string, string>>;

/** Reads a Secret; undefined when there is none. */
export async function readSecret(
  cluster: Cluster,
  ref: { readonly name: string; readonly namespace: string },
  signal?: AbortSignal,
): Promise<SecretData | undefined> {
  const secret = await cluster.get(Secret, ref, signal);
  return secret === undefined ? undefined : secretTexts(secret);
}

/** What a Secret holds, as texts. */
export function secretTexts({ data = {} }: Secret): SecretData {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decodedText(value)]));
}

/** Creates a Secret, or gives what it holds when it exists already: a Secret is never overwritten. Throws UsageError without its namespace. */
export async function ensureSecret(
  cluster: Cluster,
  ref: { readonly name: string; readonly namespace: string },
  make: () => Promise<SecretData>,
  signal?: AbortSignal,
): Promise<SecretData> {
  const existing = await readSecret(cluster, ref, signal);
  if (existing !== undefined) return existing;
  const data = await make();
  try {
    await cluster.create(secretOf(ref, data), signal);
    return data;
  } catch (error) {
    // Another replica was faster: its Secret counts.
    if (error instanceof ClusterError && error.code === "AlreadyExists") return (await readSecret(cluster, ref, signal)) ?? data;
    if (error instanceof ClusterError && error.code === "NotFound") {
      const place = cluster.name === "" ? "the management cluster" : cluster.name;
      throw new UsageError(
        `${place} has no namespace ${ref.namespace}, which is needed for Secret ${ref.name}: create it (kubectl create namespace ${ref.namespace}), or set another with --namespace`,
      );
    }
    throw error;
  }
}

/** A Secret object of ours. */
export function secretOf(ref: { readonly name: string; readonly namespace: string }, data: SecretData): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...ref, labels: { app: "gloo-mesh" } },
    type: "Opaque",
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, encodedText(value)])),
  };
}

/** A text in base64, as Secrets and fields of bytes hold it. */
export function encodedText(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** The reverse. Throws for what is not base64. */
export function decodedText(base64: string): string {
  return new TextDecoder().decode(bytesOfBase64(base64));
}
