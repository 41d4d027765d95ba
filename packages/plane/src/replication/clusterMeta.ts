import type { JsonObject, ResourceRef } from "@isthmus/core";
import { type AgentInfo, type PendingCode, problemOfService, type QuotaExcess, type Rejection, type StoreHead } from "@isthmus/ports";

/** What the replica that serves a cluster's agent says of it, beside what the agent reported. */
export interface ClusterMeta {
  /** The replica's instance: see `Replicas`. */
  readonly servedBy: string;
  readonly phase: "synced" | "stale";
  readonly connected: boolean;
  /** Whether the agent has reported everything to the writer; else some of it may be what was known before. */
  readonly isHeard: boolean;
  readonly agent?: AgentInfo;
  /** What the agent reports above its quota. */
  readonly excess?: QuotaExcess;
  readonly delivered?: ReportedDelivery;
  /** For which approval of a user the agent was asked to carry out what it has on hold. */
  readonly resumedDeletes?: string;
}

/** What the agent has answered last. */
export interface ReportedDelivery {
  /** Digest of the set that it answered: anyone who wants the same set knows what has become of it. */
  readonly digest: string;
  readonly rejected: readonly Rejection[];
  /** How many removals it holds back. */
  readonly held: number;
  /** The mode that it is in. */
  readonly mode?: string;
  /** How many objects would be written if they might, by code. */
  readonly pending?: Readonly<Record<PendingCode, number>>;
}

/** Rejections that are reported to other replicas, at most: their statuses name the first ones. */
export const MOST_REJECTIONS = 1_000;

/** As it is kept in the store. */
export function metaJson(meta: ClusterMeta): JsonObject {
  // Its types are those of JSON: the compiler cannot see it through interfaces.
  return JSON.parse(JSON.stringify(meta)) as JsonObject;
}

/** What a head says; members of another version of this program that make no sense are left out. */
export function metaOf({ meta }: Pick<StoreHead, "meta">): ClusterMeta {
  const { servedBy, phase, connected, isHeard, agent, excess, delivered, resumedDeletes } = meta;
  return {
    servedBy: typeof servedBy === "string" ? servedBy : "",
    phase: phase === "synced" ? "synced" : "stale",
    connected: connected === true,
    // Replicas of an earlier version do not say.
    isHeard: isHeard === true || (isHeard === undefined && phase === "synced"),
    ...(isObject(agent) ? { agent: agentFrom(agent) } : {}),
    ...(isObject(excess) ? excessFrom(excess) : {}),
    ...(isObject(delivered) ? { delivered: deliveredFrom(delivered) } : {}),
    ...(typeof resumedDeletes === "string" ? { resumedDeletes } : {}),
  };
}

function agentFrom(agent: JsonObject): AgentInfo {
  const text = (member: string): string => (typeof agent[member] === "string" ? agent[member] : "");
  const features = Array.isArray(agent["features"]) ? agent["features"].filter((feature) => typeof feature === "string") : [];
  return {
    instance: text("instance"),
    version: text("version"),
    agentNamespace: text("agentNamespace"),
    clusterUid: text("clusterUid"),
    features,
    ...serviceIn(agent),
    ...shownFrom(agent),
  };
}

function serviceIn({ service }: JsonObject): Pick<AgentInfo, "service"> {
  if (!isObject(service)) return {};
  const { name, grpcPort, httpPort } = service;
  if (typeof name !== "string" || typeof grpcPort !== "number") return {};
  const told = { name, grpcPort, ...(typeof httpPort === "number" ? { httpPort } : {}) };
  return problemOfService(told) === undefined ? { service: told } : {};
}

/** What the agent's connection has shown of it. */
function shownFrom({ authentication, certificate, trustedRoots }: JsonObject): Partial<AgentInfo> {
  const { notBefore, notAfter } = isObject(certificate) ? certificate : {};
  return {
    ...(authentication === "certificate" || authentication === "token" || authentication === "none" ? { authentication } : {}),
    ...(typeof notBefore === "number" && typeof notAfter === "number" ? { certificate: { notBefore, notAfter } } : {}),
    ...(typeof trustedRoots === "string" ? { trustedRoots } : {}),
  };
}

function excessFrom({ limit, quota, kinds }: JsonObject): Pick<ClusterMeta, "excess"> {
  if ((limit !== "objects" && limit !== "bytes") || typeof quota !== "number" || !Array.isArray(kinds)) return {};
  return { excess: { limit, quota, kinds: kinds.filter((kind) => typeof kind === "string") } };
}

function deliveredFrom({ digest, rejected, held, mode, pending }: JsonObject): ReportedDelivery {
  return {
    digest: typeof digest === "string" ? digest : "",
    rejected: Array.isArray(rejected) ? rejected.filter(isRejection) : [],
    held: typeof held === "number" ? held : 0,
    ...(typeof mode === "string" ? { mode } : {}),
    ...(isObject(pending) ? { pending: countsFrom(pending) } : {}),
  };
}

function countsFrom(counts: JsonObject): Readonly<Record<PendingCode, number>> {
  const count = (code: PendingCode): number => (typeof counts[code] === "number" ? counts[code] : 0);
  return {
    WouldCreate: count("WouldCreate"),
    WouldChange: count("WouldChange"),
    WouldDelete: count("WouldDelete"),
    WouldConflict: count("WouldConflict"),
  };
}

function isRejection(value: unknown): value is Rejection {
  if (!isObject(value) || !isObject(value["ref"])) return false;
  const ref: Partial<Record<keyof ResourceRef, unknown>> = value["ref"];
  const named = [ref.apiVersion, ref.kind, ref.name, ref.namespace, ref.clusterName, value["code"], value["message"]];
  return named.every((member) => typeof member === "string");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
