import type { Condition } from "@isthmus/core";
import type { Store } from "../ports.ts";

/**
 * Whether the store is closed to others, for the status of the Settings. Undefined for one that says nothing of it, as it is in the
 * server's own memory or files. What is in an open store is signed all the same: it can be read, and lost, but not forged.
 */
export function storeProtected({ weaknesses }: Pick<Store, "weaknesses">): Condition | undefined {
  if (weaknesses === undefined) return undefined;
  const type = "StoreProtected";
  if (weaknesses.length === 0) return { type, status: "True", reason: "Protected", message: "Redis is reached by TLS, with a password" };
  return {
    type,
    status: "False",
    reason: "Open",
    message: `${weaknesses.join("; ")}. Others may read what clusters report, and empty or block the store; what they write there does not count`,
  };
}
