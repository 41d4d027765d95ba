import {
  formatRef,
  InvalidResource,
  type Kind,
  keptText,
  kindKeyOf,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
} from "@isthmus/core";
import type { Scope } from "@isthmus/translators";
import { DELETE_LIMITS, type DeleteLimits } from "../apply/deleteBudget.ts";
import { bearsLabelOf } from "../apply/ownership.ts";

/** What an agent lets its server do at most. It is said where the agent runs: no server can widen it. */
export interface AgentLimits {
  /** Namespaces that may be written; `*` is all but Kubernetes' own, which must be named. Default: `*`. */
  readonly writeNamespaces?: ReadonlySet<string>;
  /**
   * Namespaces whose services, workloads and mesh objects the server hears of, within what discovery looks into. Default: all. What users
   * ask, Namespaces, Nodes and mesh configurations are reported wherever they are.
   */
  readonly readNamespaces?: ReadonlySet<string>;
  /** The most that the delete budget of the plane's Settings may be. Default: what the budget is without Settings. */
  readonly deleteBudget?: DeleteLimits;
  /** Whether proxies may be made to run programs that users name: Wasm filters. Default: they may not. */
  readonly wasmFilters?: boolean;
  /** How much of ours may go within an hour, whatever the reason. Default: no limit. */
  readonly removalsPerHour?: DeleteLimits;
}

/** The namespaces of Kubernetes itself: who writes there can stop a cluster. */
const KUBERNETES_NAMESPACES: ReadonlySet<string> = new Set(["kube-system", "kube-public", "kube-node-lease"]);
const ALL: ReadonlySet<string> = new Set(["*"]);

/** Whether an agent writes in a namespace at all. */
export function isNamespaceWritten({ writeNamespaces = ALL }: AgentLimits, namespace: string): boolean {
  return writeNamespaces.has(namespace) || (writeNamespaces.has("*") && !KUBERNETES_NAMESPACES.has(namespace));
}

/** Why an order of the server is not carried out. */
export interface RequestRefusal {
  readonly reason: "Kind" | "Name" | "Namespace" | "Label" | "Metadata" | "Content";
  readonly message: string;
}

/** Judges orders of the server one by one. */
export interface RequestCheck {
  /** Undefined: the object may be written. */
  put(resource: Resource): RequestRefusal | undefined;
  /** Undefined: the object may be removed, as far as its name says. */
  remove(ref: ResourceRef): RequestRefusal | undefined;
}

export interface RequestCheckOptions {
  readonly kinds: readonly Kind[];
  readonly owners: readonly Owner[];
  readonly limits: AgentLimits;
}

/**
 * Checks a put by kind, name, namespace, metadata, content and owner label, in this order, and a delete by the first three. Cluster-scoped
 * kinds are refused, whether or not they are in `kinds`.
 */
export function requestCheck({ kinds, owners, limits: { writeNamespaces = ALL, wasmFilters = false } }: RequestCheckOptions): RequestCheck {
  const written = new Map(kinds.map((kind) => [kindKeyOf(kind), kind]));

  function ofName(ref: ResourceRef): RequestRefusal | undefined {
    const { apiVersion, name, namespace } = ref;
    const kind = written.get(kindKeyOf(ref));
    if (kind === undefined || !kind.namespaced) return refusal("Kind", ref, "this agent does not write objects of this kind");
    if (!kind.versions.includes(apiVersion))
      return refusal("Kind", ref, `this agent does not support the version ${short(apiVersion)}: upgrade the agent`);
    if (!isName(name, MAX_NAME)) return refusal("Name", ref, "metadata.name is not a valid name of a Kubernetes object");
    if (!isName(namespace, MAX_NAMESPACE)) return refusal("Name", ref, "metadata.namespace is not a valid name of a namespace");
    if (isNamespaceWritten({ writeNamespaces }, namespace)) return undefined;
    return refusal(
      "Namespace",
      ref,
      `this agent does not write to namespace ${namespace}: add it to --write-namespaces of the agent, or exclude the namespace from the selectors of policies`,
    );
  }

  /** A resource in the form in which its kind is written, if there is one; or what is wrong with it. */
  function contentOf(resource: Resource): { readonly parsed: Resource } | { readonly problem: string } {
    try {
      return { parsed: written.get(kindKeyOf(resource))?.writtenForm?.parse(resource) ?? resource };
    } catch (error) {
      if (error instanceof InvalidResource) return { problem: error.message };
      throw error;
    }
  }

  return {
    put(resource) {
      const named = refOf(resource);
      const badName = ofName(named);
      if (badName !== undefined) return badName;
      const field = Object.keys(resource.metadata).find((name) => !WRITTEN_METADATA.has(name));
      if (field !== undefined) {
        return refusal(
          "Metadata",
          named,
          `sets metadata.${short(field)}: only name, namespace, labels and annotations of metadata are written`,
        );
      }
      const { labels: given, annotations } = resource.metadata;
      if (!isTexts(given) || !isTexts(annotations)) {
        return refusal("Metadata", named, "metadata.labels and metadata.annotations must be maps of strings");
      }
      const content = contentOf(resource);
      if ("problem" in content)
        return refusal("Content", named, `${short(content.problem)}: this agent only writes the fields of this kind that it knows`);
      if (!wasmFilters && written.get(kindKeyOf(resource))?.runsCode?.(content.parsed) === true) {
        return refusal(
          "Content",
          named,
          "has proxies run Wasm filters, which this agent does not allow: start it with --wasm-filters, as dataPlane.wasm.enabled of its chart does",
        );
      }
      if (bearsLabelOf(resource, owners)) return undefined;
      const labels = owners.map(({ label, value }) => `${label}=${value}`).join(" or ");
      return refusal(
        "Label",
        named,
        `does not have the owner label ${labels}, without which it could not be deleted later: check that --management-namespace of the agent is the namespace of its server`,
      );
    },
    remove: ofName,
  };
}

/** The namespaces that are reported of, as far as the agent's own limits allow. One scope has one form. */
export function scopeLimit({ readNamespaces }: AgentLimits): (scope: Scope) => Scope {
  if (readNamespaces === undefined || readNamespaces.has("*")) return (scope) => scope;
  const limited = new WeakMap<Scope, Scope>();
  return (scope) => {
    const known = limited.get(scope) ?? ((namespace) => readNamespaces.has(namespace) && scope(namespace));
    limited.set(scope, known);
    return known;
  };
}

/** Limits of the Settings, as far as the agent's own allow them; the same object where they allow all. */
export function withinLimit(told: DeleteLimits, { deleteBudget = DELETE_LIMITS }: AgentLimits): DeleteLimits {
  if (told.percent <= deleteBudget.percent && told.objects <= deleteBudget.objects) return told;
  return { percent: Math.min(told.percent, deleteBudget.percent), objects: Math.min(told.objects, deleteBudget.objects) };
}

const WRITTEN_METADATA: ReadonlySet<string> = new Set(["name", "namespace", "clusterName", "labels", "annotations"]);

// Source: Kubernetes, RFC 1123 subdomains and labels.
const MAX_NAME = 253;
const MAX_NAMESPACE = 63;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

function isName(text: string, maxLength: number): boolean {
  return text.length <= maxLength && NAME.test(text) && !text.includes("..");
}

function refusal(reason: RequestRefusal["reason"], ref: ResourceRef, message: string): RequestRefusal {
  const shown = { ...ref, kind: short(ref.kind), name: short(ref.name), namespace: short(ref.namespace) };
  return { reason, message: `${formatRef(shown)}: ${message}` };
}

/** What a server says of names may be long. */
function short(text: string): string {
  return text.length <= MAX_NAME ? text : `${keptText(text, MAX_NAME)}...`;
}

/** What comes from a server need not be what its type says. */
function isTexts(map: unknown): boolean {
  if (map === undefined) return true;
  return typeof map === "object" && map !== null && !Array.isArray(map) && Object.values(map).every((value) => typeof value === "string");
}
