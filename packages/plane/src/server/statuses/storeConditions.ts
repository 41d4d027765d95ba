import type { Condition } from "@isthmus/core";
import type { Store } from "@isthmus/ports";
import type { Sharing } from "../../replication/sharing.ts";
import { ALMOST_FULL_TENTHS, type KnownRoom } from "../../replication/storeRoom.ts";

/** What the status of the Settings says of a shared store. */
export function storeConditions(
  store: Pick<Store, "weaknesses">,
  sharing: Pick<Sharing, "isLoaded" | "outage" | "room">,
): readonly Condition[] {
  return [storeProtected(store), storeConnected(store, sharing), storeHasRoom(store, sharing.room)].filter(
    (condition) => condition !== undefined,
  );
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

/**
 * Whether the store takes what servers write and keeps it. Undefined for one in the server's own memory or files. Unknown where it does not say: that is not the
 * same as room.
 */
function storeHasRoom({ weaknesses }: Pick<Store, "weaknesses">, { capacity, usedTenths, refused }: KnownRoom): Condition | undefined {
  if (weaknesses === undefined) return undefined;
  const type = "StoreHasRoom";
  if (refused.size > 0) {
    const names = [...refused].sort();
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
    const what = `${names.slice(0, MOST_NAMED).map(shownName).join(", ")}${more}`;
    const message = `Redis is full and refuses to write: ${what}. The server continues from memory; other replicas, the console and a server that restarts have what was written before. ${MORE_MEMORY}`;
    return { type, status: "False", reason: "Full", message };
  }
  if (capacity === undefined) return undefined;
  if ("unknown" in capacity)
    return { type, status: "Unknown", reason: "NotSaid", message: `how much memory Redis has is not known: ${capacity.unknown}` };
  const { limitBytes, evictionPolicy } = capacity;
  if (limitBytes === undefined) {
    const message =
      "Redis sets no limit of its own (maxmemory is 0), so nothing tells when it runs out of memory: set one below the memory of its pod or machine";
    return { type, status: "Unknown", reason: "NoLimit", message };
  }
  const limit = `${Math.round(limitBytes / 2 ** 20)} MiB`;
  if (evictionPolicy !== undefined) {
    const message = `Redis drops entries when it reaches ${limit} (maxmemory-policy is ${evictionPolicy}): revocations, first-seen times and the state of clusters would be lost without a word: set maxmemory-policy to noeviction`;
    return { type, status: "False", reason: "Evicts", message };
  }
  if (usedTenths >= ALMOST_FULL_TENTHS) {
    const message = `Redis uses ${usedTenths * 10} % or more of ${limit}, and refuses to write at its limit. ${MORE_MEMORY}`;
    return { type, status: "False", reason: "AlmostFull", message };
  }
  return {
    type,
    status: "True",
    reason: "HasRoom",
    message: `Redis uses less than ${ALMOST_FULL_TENTHS * 10} % of ${limit}, and drops nothing`,
  };
}

/** In words of users: `input/cluster-1` is what the agent of cluster-1 reports. */
function shownName(name: string): string {
  const [section = "", clusterName] = name.split("/");
  if (clusterName === undefined) return "that this server runs";
  const what = WORDS[section] ?? section;
  return clusterName === "" && section !== "translated" ? what : `${what} ${clusterName === "" ? "the management cluster" : clusterName}`;
}

const WORDS: Readonly<Record<string, string>> = {
  input: "what is reported of",
  translated: "what is desired in",
  activity: "the activity of",
  insights: "insights",
  management: "what users declare",
};
const MORE_MEMORY =
  "Give it more memory (maxmemory; with the chart redis.deployment.resources.limits.memory, of which half counts), or have agents report less (discovery.selectors, relay.agentQuota)";
const MOST_NAMED = 5;
