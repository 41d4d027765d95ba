import { bytesOfBase64, UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { ensureSecret, type SecretData } from "../../identity/secretData.ts";

/** The Secret with the key under which replicas sign what they share. */
export const STORE_KEY_SECRET = "relay-store-key-secret";

export interface StoreKeySource {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Gives 32 random bytes. */
  readonly random: () => Uint8Array;
}

/**
 * The keys that sign and verify what replicas share: `key` of the Secret, and `previous`, which only verifies. Made when there is none;
 * of several replicas one makes it. What is there is never written. Rejects with ClusterError when the management cluster does not
 * answer, and with UsageError when the Secret holds no key.
 */
export async function storeKeys(
  { cluster, namespace, random }: StoreKeySource,
  signal?: AbortSignal,
): Promise<{ readonly key: Uint8Array; readonly previous?: Uint8Array }> {
  const ref = { name: STORE_KEY_SECRET, namespace };
  return storeKeysIn(
    await ensureSecret(cluster, ref, async () => ({ key: btoa(String.fromCharCode(...random())) }), signal),
    `Secret ${namespace}/${STORE_KEY_SECRET}`,
  );
}

/** The keys that the fields of such a Secret hold. Throws UsageError, with the name of the `place`, where they hold none. */
export function storeKeysIn(data: SecretData, place: string): { readonly key: Uint8Array; readonly previous?: Uint8Array } {
  const previous = data["previous"] === undefined || data["previous"].trim() === "" ? undefined : keyIn(data, "previous", place);
  return { key: keyIn(data, "key", place), ...(previous === undefined ? {} : { previous }) };
}

function keyIn(data: SecretData, field: string, place: string): Uint8Array {
  const text = (data[field] ?? "").trim();
  const problem =
    text === ""
      ? "is missing"
      : !BASE64.test(text)
        ? "is not base64"
        : text.replaceAll("=", "").length < 43
          ? "has fewer than 32 bytes"
          : "";
  if (problem !== "") {
    throw new UsageError(`${place}: ${field} ${problem}: it must be the base64 of 32 random bytes, such as from "openssl rand -base64 32"`);
  }
  return bytesOfBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

// Either alphabet; up to a kilobyte, far more than any key.
const BASE64 = /^[A-Za-z0-9+/_-]{1,1366}={0,2}$/;
