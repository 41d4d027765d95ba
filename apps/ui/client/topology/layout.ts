import { type Edge, MarkerType, type Node } from "@xyflow/react";
import ELK, { type ElkNode } from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js";
import type { Topology, TopologyEdge, TopologyNode } from "../model/topology.ts";

/** Nodes and edges with their places, as the graph draws them. */
export interface Drawing {
  readonly nodes: Node[];
  readonly edges: Edge[];
}

const NODE = { width: 168, height: 46 } as const;
// Slower than a person waits for, and more than an eye can follow.
export const MOST_EDGES = 400;

const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.layered.spacing.nodeNodeBetweenLayers": "72",
  "elk.spacing.nodeNode": "22",
  "elk.spacing.componentComponent": "26",
} as const;

let elk: InstanceType<typeof ELK> | undefined;

/** Lays out services in boxes of their clusters, off the page's thread. */
export async function drawingOf({ nodes, edges }: Topology): Promise<Drawing> {
  elk ??= new ELK({ workerUrl });
  const clusters = [...new Set(nodes.map(({ cluster }) => cluster))].sort();
  const shown = drawn(edges);
  const root: ElkNode = {
    id: "root",
    layoutOptions: OPTIONS,
    children: clusters.map((cluster) => ({
      id: clusterId(cluster),
      layoutOptions: { "elk.padding": "[top=44,left=18,bottom=18,right=18]" },
      children: nodes.filter((node) => node.cluster === cluster).map(({ id }) => ({ id, ...NODE })),
    })),
    // Most federations go both ways, and so have no say in what stands left of what.
    edges: shown
      .filter(({ type }) => type !== "federation")
      .map((edge) => ({ id: edge.id, sources: [sourceOf(edge)], targets: [targetOf(edge)] })),
  };
  const laidOut = await elk.layout(root);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const xOf = new Map((laidOut.children ?? []).map(({ id, x = 0 }) => [id, x]));
  return {
    nodes: (laidOut.children ?? []).flatMap((box) => [boxOf(box), ...(box.children ?? []).map((child) => childOf(child, box.id, byId))]),
    edges: shown.map((edge) => {
      const ends = [sourceOf(edge), targetOf(edge)] as const;
      const isTurned = edge.type === "federation" && (xOf.get(ends[0]) ?? 0) > (xOf.get(ends[1]) ?? 0);
      const [source, target] = isTurned ? [ends[1], ends[0]] : ends;
      return {
        id: edge.id,
        source,
        target,
        ...(edge.label === "" ? {} : { label: edge.label }),
        ...(edge.type === "federation"
          ? {}
          : { markerEnd: { type: MarkerType.ArrowClosed, color: COLORS[edge.type], width: 18, height: 18 } }),
        className: `edge ${edge.type}`,
      };
    }),
  };
}

const COLORS = { route: "var(--accent)", access: "var(--good)" } as const;

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

function sourceOf({ type, from }: TopologyEdge): string {
  return type === "federation" ? clusterId(from) : from;
}

function targetOf({ type, to }: TopologyEdge): string {
  return type === "federation" ? clusterId(to) : to;
}
