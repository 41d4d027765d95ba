import { type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { insightCountsAbout, NO_COUNTS, type SeverityCounts } from "../insights/insightIndex.ts";
import { type Filter, isEmptyFilter, matchesFilter } from "../lines/tokens.ts";
import { remembering } from "../memo.ts";
import { type EdgeType, isFederated, type Topology, type TopologyEdge, type TopologyNode } from "./topology.ts";

/** What boxes of the graph stand for. */
export const BOXES = ["cluster", "cluster>namespace", "namespace", "none"] as const;
export type Boxes = (typeof BOXES)[number];

/** The choice that an address names; clusters for any other text. */
export function boxesOf(text: string | undefined): Boxes {
  return BOXES.find((one) => one === text) ?? "cluster";
}

/** What the graph can leave out: types of edges, and the insights about each of its parts. */
export const PARTS = ["policy", "access", "federation", "traffic", "insights"] as const;
export type Part = (typeof PARTS)[number];
export type Parts = ReadonlySet<Part>;

const ALL_PARTS: Parts = new Set(PARTS);
const NO_PARTS = "none";

/** The parts that an address names, with commas between them: the same set for the same text. All where it names none that there is. */
export const partsOf = remembering((text: string | undefined): Parts => {
  if (text === NO_PARTS) return new Set();
  const named = (text ?? "").split(",");
  const parts = PARTS.filter((part) => named.includes(part));
  return parts.length === 0 ? ALL_PARTS : new Set(parts);
});

/** The text that `partsOf` reads as these parts with one more, or one less; undefined for all. */
export function withPart(parts: Parts, part: Part): string | undefined {
  const next = PARTS.filter((one) => (one === part) !== parts.has(one));
  return next.length === PARTS.length ? undefined : next.join(",") || NO_PARTS;
}

const PART_OF: Readonly<Record<EdgeType, Part>> = {
  route: "policy",
  mirror: "policy",
  access: "access",
  federation: "federation",
  traffic: "traffic",
};

/** A graph with the edges of some parts; all of its nodes stay. */
export function withParts(topology: Topology, parts: Parts): Topology {
  return { ...topology, edges: topology.edges.filter(({ type }) => parts.has(PART_OF[type])) };
}

/** Insights about nodes and about what is behind edges, by the ids of both. */
export type TopologyInsights = ReadonlyMap<string, SeverityCounts>;

/** Of a namespace, the sum of those about its Destinations. */
export function topologyInsights(fleet: Pick<Fleet, "insights">, { nodes, edges }: Topology): TopologyInsights {
  const found = new Map<string, SeverityCounts>();
  const add = (id: string, refs: readonly ResourceRef[]): void => {
    const counts = refs.map((ref) => insightCountsAbout(fleet, resourceKeyOf(ref))).reduce(sum, NO_COUNTS);
    if (counts.error + counts.warning + counts.info > 0) found.set(id, counts);
  };
  for (const { id, destination, members = [] } of nodes)
    add(id, [...(destination === undefined ? [] : [destination]), ...members].map(refOf));
  for (const { id, because } of edges) if (because !== undefined) add(id, [because]);
  return found;
}

function sum(a: SeverityCounts, b: SeverityCounts): SeverityCounts {
  return { error: a.error + b.error, warning: a.warning + b.warning, info: a.info + b.info };
}

/** The values of `insight`: how much those weigh that there are. */
export function insightValues(counts: SeverityCounts | undefined): readonly string[] {
  const there = (["error", "warning", "info"] as const).filter((severity) => (counts?.[severity] ?? 0) > 0);
  return there.length === 0 ? ["none"] : there;
}

const NODE_KEYS: readonly string[] = ["cluster", "ns", "name", "federated", "insight"];
const EDGE_KEYS: readonly string[] = ["cluster", "ns", "from", "to", "type", "policy", "insight"];

/** The keys by which parts of the graph are found and hidden. */
export const GRAPH_KEYS: readonly string[] = [...new Set([...NODE_KEYS, ...EDGE_KEYS])];

/** What filters say of a graph beside its nodes and edges. */
export interface GraphFilterContext {
  readonly insights: TopologyInsights;
  /** How a type of edges is called. */
  typeText(type: EdgeType): string;
}

/** Ids of the nodes and edges that a filter names. A filter with a key that only edges have names no node, and the other way round; an empty one names nothing. */
export function foundIn({ nodes, edges }: Topology, filter: Filter, context: GraphFilterContext): ReadonlySet<string> {
  if (isEmptyFilter(filter)) return new Set();
  const isOf = (keys: readonly string[]) => filter.tokens.every(({ key }) => keys.includes(key));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return new Set([
    ...(isOf(NODE_KEYS) ? nodes.filter((node) => matchesFilter(filter, nodeFields(node, context))).map(({ id }) => id) : []),
    ...(isOf(EDGE_KEYS) ? edges.filter((edge) => matchesFilter(filter, edgeFields(edge, byId, context))).map(({ id }) => id) : []),
  ]);
}

/** A graph without some of its nodes and edges, and without the edges of these nodes. */
export function withoutParts({ nodes, edges, isGrouped }: Topology, hidden: ReadonlySet<string>): Topology {
  if (hidden.size === 0) return { nodes, edges, isGrouped };
  return {
    nodes: nodes.filter(({ id }) => !hidden.has(id)),
    edges: edges.filter(({ id, from, to }) => ![id, from, to].some((one) => hidden.has(one))),
    isGrouped,
  };
}

function nodeFields(node: TopologyNode, { insights }: GraphFilterContext) {
  const { id, name, namespace, cluster, members } = node;
  const federated = members === undefined ? [node.isFederated] : members.map(isFederated);
  return {
    fields: new Map([
      ["cluster", [cluster]],
      ["ns", [namespace]],
      ["name", [name]],
      ["federated", [...new Set(federated)].map((each) => (each ? "yes" : "no"))],
      ["insight", insightValues(insights.get(id))],
    ]),
    text: `${namespace}/${name} ${cluster}`.toLowerCase(),
  };
}

function edgeFields(edge: TopologyEdge, byId: ReadonlyMap<string, TopologyNode>, { insights, typeText }: GraphFilterContext) {
  const ends = [edge.from, edge.to].map((id) => byId.get(id) ?? id);
  const [from = [], to = []] = ends.map(endValues);
  const why = edge.because === undefined ? [] : policyValues(edge.because);
  return {
    fields: new Map([
      ["cluster", ends.map((end) => (typeof end === "string" ? end : end.cluster))],
      ["ns", ends.flatMap((end) => (typeof end === "string" ? [] : [end.namespace]))],
      ["from", from],
      ["to", to],
      ["type", [typeText(edge.type)]],
      ["policy", why],
      ["insight", insightValues(insights.get(edge.id))],
    ]),
    text: [from, to, [typeText(edge.type)], why, edge.label].flat().join("\n").toLowerCase(),
  };
}

/** By what an end of an edge is found: its name, with its namespace, with its cluster, too. */
export function endValues(end: TopologyNode | string): readonly string[] {
  if (typeof end === "string") return [end];
  const { name, namespace, cluster } = end;
  return [name, `${namespace}/${name}`, `${cluster}/${namespace}/${name}`];
}

/** By what the policy behind an edge is found. */
export function policyValues({ name, namespace }: Pick<ResourceRef, "name" | "namespace">): readonly string[] {
  return [name, `${namespace}/${name}`];
}
