import { displayName, type Kind, nearestName, type Resource, UsageError } from "@isthmus/core";
import type { Cluster, Malformed } from "@isthmus/ports";

/** Which objects of a kind are meant. Nothing given: all. */
export interface Selection {
  readonly namespace?: string;
  /** The cluster that they were discovered in, or that they are about. */
  readonly cluster?: string;
}

/** Objects of one kind, in order of namespace and name. */
export interface Listed<R extends Resource = Resource> {
  readonly kind: Kind<R>;
  readonly items: readonly R[];
  readonly malformed: readonly Malformed[];
}

/** Lists what is meant. Throws ClusterError. */
export async function selectedObjects<R extends Resource>(
  cluster: Cluster,
  kind: Kind<R>,
  selection: Selection,
  signal: AbortSignal,
): Promise<Listed<R>> {
  const { namespace } = selection;
  const { items, malformed } = await cluster.list(kind, namespace === undefined ? {} : { namespace }, signal);
  return { kind, items: items.filter((item) => isSelected(item, selection)).sort(inOrder), malformed };
}

/** Whether an object is one of those that are meant, whatever its namespace. */
export function isSelected(resource: Resource, { cluster }: Selection): boolean {
  return cluster === undefined || clusterOf(resource) === cluster;
}

/** Those with one of these names, each `name` or `namespace/name`; all of them without names. */
export function withNames<R extends Resource>(items: readonly R[], names: readonly string[]): readonly R[] {
  return names.length === 0 ? items : items.filter((item) => names.some((name) => isNamed(item, name)));
}

/** Throws UsageError for a name that none of the objects has: it names the nearest one of `known`. */
export function requireNamed(names: readonly string[], known: readonly Listed[]): void {
  const missing = names.find((name) => !known.some(({ items }) => items.some((item) => isNamed(item, name))));
  if (missing === undefined) return;
  const candidates = known.flatMap(({ items }) =>
    items.map(({ metadata }) => (missing.includes("/") ? displayName(metadata) : metadata.name)),
  );
  const nearest = nearestName(missing, candidates);
  const kinds = known.map(({ kind }) => kind.kind).join(", ");
  throw new UsageError(`${kinds} ${missing} not found${nearest === undefined ? "" : `: did you mean ${nearest}?`}`);
}

/** Discovery's label with the cluster of an object. Source: the published API. */
const CLUSTER_LABEL = "cluster.discovery.mesh.gloo.solo.io";

/** The cluster that a discovered object is of; "" for what users made in the management cluster. */
function clusterOf({ kind, metadata: { name, labels } }: Resource): string {
  return kind === "KubernetesCluster" ? name : (labels?.[CLUSTER_LABEL] ?? "");
}

function isNamed({ metadata: { name, namespace = "" } }: Resource, wanted: string): boolean {
  return wanted.includes("/") ? wanted === `${namespace}/${name}` : wanted === name;
}

function inOrder(a: Resource, b: Resource): number {
  const [one, other] = [a, b].map(({ metadata: { namespace = "", name } }) => `${namespace}/${name}`);
  return (one ?? "") < (other ?? "") ? -1 : 1;
}
