import { type Edge, MarkerType, type Node } from "@xyflow/react";
import ELK, { type ElkNode } from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js";
import type { Topology, TopologyEdge, TopologyNode } from "../model/topology.ts";
import type { Drawing } from "./drawing.ts";
import { connectedGroups, packed } from "./packing.ts";

const NODE = { width: 168, height: 46 } as const;
// Slower than a person waits for, and more than an eye can follow.
export const MOST_EDGES = 400;
// Between clusters that no policy connects: room for the lines of federation.
const GAP = 72;

const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.layered.spacing.nodeNodeBetweenLayers": "72",
  "elk.spacing.nodeNode": "22",
  "elk.spacing.componentComponent": "22",
  "elk.aspectRatio": "1",
} as const;
const WIDE = { "elk.layered.spacing.nodeNodeBetweenLayers": "210" } as const;
const BOX_OPTIONS = { "elk.padding": "[top=44,left=18,bottom=18,right=18]" } as const;

let elk: InstanceType<typeof ELK> | undefined;

/** Lays out services in boxes of their clusters, off the page's thread: clusters that routes or access connect together, others beside them. */
export async function drawingOf({ nodes, edges }: Topology): Promise<Drawing> {
  const layouts = elk ?? new ELK({ workerUrl });
  elk = layouts;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const clusterOf = (id: string) => byId.get(id)?.cluster ?? "";
  const shown = drawn(edges);
  // Most federations go both ways, and so have no say in what stands left of what.
  const inner = shown.filter(({ type }) => type !== "federation");
  const clusters = [...new Set(nodes.map(({ cluster }) => cluster))].sort();
  const groups = connectedGroups(
    clusters,
    inner.map(({ from, to }) => [clusterOf(from), clusterOf(to)]),
  );
  const laidOut = await Promise.all(
    groups.map((group) => {
      const names = new Set(group);
      const part = {
        nodes: nodes.filter(({ cluster }) => names.has(cluster)),
        edges: inner.filter(({ from }) => names.has(clusterOf(from))),
      };
      return layouts.layout(rootOf(group, part));
    }),
  );
  const places = packed(
    laidOut.map(({ width = 0, height = 0 }) => ({ width, height })),
    GAP,
  );
  const boxes = laidOut.flatMap(({ children = [] }, i) => {
    const { x: left, y: top } = places[i] ?? { x: 0, y: 0 };
    return children.map((box) => ({ ...box, x: left + (box.x ?? 0), y: top + (box.y ?? 0) }));
  });
  const boxById = new Map(boxes.map((box) => [box.id, box]));
  return {
    nodes: boxes.flatMap((box) => [boxOf(box), ...(box.children ?? []).map((child) => childOf(child, box.id, byId))]),
    edges: shown.map((edge) => ({
      id: edge.id,
      ...endsOf(edge, boxById),
      ...(edge.label === "" ? {} : { label: edge.label }),
      ...(edge.type === "federation"
        ? {}
        : { markerEnd: { type: MarkerType.ArrowClosed, color: COLORS[edge.type], width: 18, height: 18 } }),
      data: { because: edge.because },
      className: `edge ${edge.type}`,
    })),
  };
}

const COLORS = { route: "var(--accent)", mirror: "var(--text)", access: "var(--good)", traffic: "var(--muted)" } as const;

/** What is laid out of clusters that belong together. One alone is laid out for itself, so that services without edges fill a square. */
function rootOf(clusters: readonly string[], { nodes, edges }: Pick<Topology, "nodes" | "edges">): ElkNode {
  const isAlone = clusters.length === 1;
  // Rates need more room than shares.
  const options = edges.some(({ rates }) => rates !== undefined) ? { ...OPTIONS, ...WIDE } : OPTIONS;
  const lines = edges.map(({ id, from, to }) => ({ id, sources: [from], targets: [to] }));
  return {
    id: "root",
    layoutOptions: {
      ...options,
      "elk.padding": "[top=0,left=0,bottom=0,right=0]",
      ...(isAlone ? {} : { "elk.hierarchyHandling": "INCLUDE_CHILDREN" }),
    },
    children: clusters.map((cluster) => ({
      id: clusterId(cluster),
      layoutOptions: isAlone ? { ...options, ...BOX_OPTIONS } : BOX_OPTIONS,
      children: nodes.filter((node) => node.cluster === cluster).map(({ id }) => ({ id, ...NODE })),
      edges: isAlone ? lines : [],
    })),
    edges: isAlone ? [] : lines,
  };
}

/** Where an edge begins and ends. One between clusters goes the short way: to the right, or down where one is above the other. */
function endsOf(
  { type, from, to }: TopologyEdge,
  boxes: ReadonlyMap<string, ElkNode>,
): Pick<Edge, "source" | "target" | "sourceHandle" | "targetHandle"> {
  if (type !== "federation") return { source: from, target: to };
  const [one, other] = [clusterId(from), clusterId(to)];
  const [a, b] = [boxes.get(one), boxes.get(other)];
  const { x: ax = 0, y: ay = 0, width: aw = 0 } = a ?? {};
  const { x: bx = 0, y: by = 0, width: bw = 0 } = b ?? {};
  if (ax + aw <= bx) return { source: one, target: other };
  if (bx + bw <= ax) return { source: other, target: one };
  const [upper, lower] = ay < by ? [one, other] : [other, one];
  return { source: upper, target: lower, sourceHandle: "bottom", targetHandle: "top" };
}

/** The edges that are drawn: of two federations that go both ways, one. */
function drawn(edges: readonly TopologyEdge[]): readonly TopologyEdge[] {
  const pairs = new Set<string>();
  const once = edges.filter(({ type, from, to }) => {
    if (type !== "federation") return true;
    const pair = [from, to].sort().join("\n");
    return !pairs.has(pair) && pairs.add(pair);
  });
  return once.slice(0, MOST_EDGES);
}

function boxOf({ id, x = 0, y = 0, width = 0, height = 0 }: ElkNode): Node {
  return { id, type: "cluster", position: { x, y }, data: { cluster: id.slice(CLUSTER.length) }, style: { width, height }, width, height };
}

function childOf({ id, x = 0, y = 0 }: ElkNode, parentId: string, byId: ReadonlyMap<string, TopologyNode>): Node {
  return { id, parentId, extent: "parent", type: "service", position: { x, y }, data: { node: byId.get(id) }, ...NODE };
}

const CLUSTER = "cluster ";

function clusterId(name: string): string {
  return `${CLUSTER}${name}`;
}
