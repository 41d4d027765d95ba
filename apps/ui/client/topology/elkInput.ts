import type { ElkNode } from "elkjs/lib/elk-api.js";
import type { TopologyEdge } from "../model/topology/topology.ts";
import type { BoxTree } from "./boxes.ts";

/** How large a service is drawn. */
export const NODE = { width: 168, height: 46 } as const;
/** Between the border of a box and what is in it. */
export const PADDING = { top: 44, side: 18 } as const;

const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.layered.spacing.nodeNodeBetweenLayers": "72",
  "elk.spacing.nodeNode": "22",
  "elk.spacing.componentComponent": "22",
  "elk.aspectRatio": "1",
} as const;
// As wide as the label of a rate, with the arrow.
const WIDE = { "elk.layered.spacing.nodeNodeBetweenLayers": "104" } as const;
const BOX_OPTIONS = { "elk.padding": `[top=${PADDING.top},left=${PADDING.side},bottom=${PADDING.side},right=${PADDING.side}]` } as const;

/** How what edges connect is laid out. Rates need more room than shares. */
export function optionsOf(edges: readonly TopologyEdge[]): Readonly<Record<string, string>> {
  return edges.some(({ rates }) => rates !== undefined) ? { ...OPTIONS, ...WIDE } : OPTIONS;
}

/** Edges as lines between what is laid out. */
export function linesOf(edges: readonly TopologyEdge[]) {
  return edges.map(({ id, from, to }) => ({ id, sources: [from], targets: [to] }));
}

/** What is laid out of boxes that belong together. One alone is laid out for itself, so that services without edges fill a square. */
export function rootOf(boxes: readonly BoxTree[], edges: readonly TopologyEdge[]): ElkNode {
  const isAlone = boxes.length === 1;
  const options = optionsOf(edges);
  const nodeOf = (box: BoxTree): ElkNode => ({
    id: box.id,
    // A box has no room between its services from what is around it.
    layoutOptions: { ...options, ...BOX_OPTIONS },
    children: box.boxes.length > 0 ? box.boxes.map(nodeOf) : box.nodes.map((id) => ({ id, ...NODE })),
    edges: isAlone ? linesOf(edges) : [],
  });
  return {
    id: "root",
    layoutOptions: {
      ...options,
      "elk.padding": "[top=0,left=0,bottom=0,right=0]",
      ...(isAlone ? {} : { "elk.hierarchyHandling": "INCLUDE_CHILDREN" }),
    },
    children: boxes.map(nodeOf),
    edges: isAlone ? [] : linesOf(edges),
  };
}
