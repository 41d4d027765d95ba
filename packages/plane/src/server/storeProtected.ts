import type { Condition } from "@isthmus/core";
import type { Store } from "../ports/clusterPort.ts";

/**
 * Whether the store is closed to others, for the status of the Settings. Undefined for one that says nothing of it, as it is in the
 * server's own memory or files. What is in an open store is signed all the same: it can be read, and lost, but not forged.
 */
export function storeProtected({ weaknesses }: Pick<Store, "weaknesses">): Condition | undefined {
  if (weaknesses === undefined) return undefined;
  const type = "StoreProtected";
  if (weaknesses.length === 0)
    return { type, status: "True", reason: "Protected", message: "the connection to Redis uses TLS and a password" };
  return {
    type,
    status: "False",
    reason: "Open",
    message: `${weaknesses.join("; ")}. Others can read what clusters report, and flush or block the store; unsigned data that they write is ignored`,
  };
}
