import type { Edge, Node } from "@xyflow/react";
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
  const shown = edges.slice(0, MOST_EDGES);
  const root: ElkNode = {
    id: "root",
    layoutOptions: OPTIONS,
    children: clusters.map((cluster) => ({
      id: clusterId(cluster),
      layoutOptions: { "elk.padding": "[top=44,left=18,bottom=18,right=18]" },
      children: nodes.filter((node) => node.cluster === cluster).map(({ id }) => ({ id, ...NODE })),
    })),
    edges: shown.map((edge) => ({ id: edge.id, sources: [sourceOf(edge)], targets: [targetOf(edge)] })),
  };
  const laidOut = await elk.layout(root);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return {
    nodes: (laidOut.children ?? []).flatMap((box) => [boxOf(box), ...(box.children ?? []).map((child) => childOf(child, box.id, byId))]),
    edges: shown.map((edge) => ({
      id: edge.id,
      source: sourceOf(edge),
      target: targetOf(edge),
      ...(edge.label === "" ? {} : { label: edge.label }),
      className: `edge ${edge.type}`,
      ariaLabel: "",
    })),
  };
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
