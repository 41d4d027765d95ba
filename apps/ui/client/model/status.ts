import type { Resource } from "@isthmus/core";
import type { KubernetesCluster } from "../data/kinds.ts";
import { t } from "../strings.ts";

/** How much something asks for attention; each has a shape and a colour of its own. */
export type Tone = "good" | "warning" | "bad" | "progress" | "unknown";

/** A state in a word, with its tone. */
export interface Status {
  readonly tone: Tone;
  readonly word: string;
}

const CLUSTER_TONES: ReadonlyMap<string, Tone> = new Map([
  ["CONNECTED", "good"],
  ["SYNCING", "progress"],
  ["REGISTERED", "unknown"],
  ["LAGGING", "warning"],
  ["OFFLINE", "bad"],
  ["REVOKED", "bad"],
  ["UNREACHABLE", "bad"],
]);

/** The state of a cluster, as its KubernetesCluster says it. */
export function clusterStatus(cluster: KubernetesCluster | undefined): Status {
  const state = cluster?.status?.state;
  if (state === undefined) return { tone: "unknown", word: t.states.unknown };
  return { tone: CLUSTER_TONES.get(state) ?? "unknown", word: titled(state) };
}

interface Approved {
  readonly observedGeneration?: number;
  readonly state?: string;
  readonly warningCount?: number;
  readonly warnings?: readonly string[];
  readonly conditions?: readonly PolicyCondition[];
}

/** A standard condition of a status. */
export interface PolicyCondition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The state of an object that a user wrote; pending while its status is about an older generation. */
export function approvalOf(resource: Resource): Status {
  const status = approvedOf(resource);
  const { state, observedGeneration } = status;
  if (state === undefined || (observedGeneration ?? 0) < (resource.metadata.generation ?? 0)) return approvalStatus("PENDING");
  return approvalStatus(state, status.warningCount ?? status.warnings?.length ?? 0);
}

/** A state of the published API as status. */
export function approvalStatus(state: string, warnings = 0): Status {
  switch (state) {
    case "ACCEPTED":
      return warnings > 0 ? { tone: "warning", word: t.states.acceptedWithWarnings } : { tone: "good", word: t.states.accepted };
    case "INVALID":
      return { tone: "bad", word: t.states.rejected };
    case "FAILED":
      return { tone: "bad", word: t.states.failed };
    case "PENDING":
      return { tone: "progress", word: t.states.pending };
    default:
      return { tone: "unknown", word: titled(state) };
  }
}

/** The conditions of an object's status, in its own order. */
export function conditionsOf(resource: Resource): readonly PolicyCondition[] {
  const { conditions } = approvedOf(resource);
  return Array.isArray(conditions) ? conditions : [];
}

// Of a cluster's conditions, False is the good one of most.
const BAD_WHEN_TRUE: ReadonlySet<string> = new Set([
  "Lagging",
  "DeletesPaused",
  "OverQuota",
  "CertificateExpiring",
  "WritesPaused",
  "WritesRefused",
  "Revoked",
]);

/** A condition as status. */
export function conditionStatus({ type, status }: PolicyCondition): Status {
  if (status !== "True" && status !== "False") return { tone: "unknown", word: status ?? t.states.unknown };
  const isGood = (status === "True") !== BAD_WHEN_TRUE.has(type);
  return { tone: isGood ? "good" : BAD_WHEN_TRUE.has(type) ? "warning" : "bad", word: status };
}

function approvedOf(resource: Resource): Approved {
  return (resource as Resource & { readonly status?: Approved }).status ?? {};
}

/** `SOME_WORDS` as `Some words`. */
export function titled(word: string): string {
  const text = word.replaceAll("_", " ").toLowerCase();
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
