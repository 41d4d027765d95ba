import type { Condition } from "@isthmus/core";
import type { Store } from "../ports/clusterPort.ts";
import type { Sharing } from "../replication/sharing.ts";

/** What the status of the Settings says of a shared store. */
export function storeConditions(store: Pick<Store, "weaknesses">, sharing: Pick<Sharing, "isLoaded" | "outage">): readonly Condition[] {
  return [storeProtected(store), storeConnected(store, sharing)].filter((condition) => condition !== undefined);
}

/** Whether the store answers. Undefined for one in the server's own memory or files, and until it was tried to read it. */
function storeConnected(
  { weaknesses }: Pick<Store, "weaknesses">,
  { isLoaded, outage }: Pick<Sharing, "isLoaded" | "outage">,
): Condition | undefined {
  if (weaknesses === undefined || !isLoaded) return undefined;
  const type = "StoreConnected";
  if (outage === undefined) return { type, status: "True", reason: "Connected", message: "the server shares its state through Redis" };
  const consequence = "the server continues from memory: other replicas do not learn what it knows, and it is lost with the server";
  return { type, status: "False", reason: "Unavailable", message: `${outage}; ${consequence}` };
}

/**
 * Whether the store is closed to others, for the status of the Settings. Undefined for one that says nothing of it, as it is in the
 * server's own memory or files. What is in an open store is signed all the same: it can be read, and lost, but not forged.
 */
function storeProtected({ weaknesses }: Pick<Store, "weaknesses">): Condition | undefined {
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
