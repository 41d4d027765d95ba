import { type Edge, MarkerType, type Node } from "@xyflow/react";
import ELK, { type ElkNode } from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js";
import type { Topology, TopologyEdge } from "../model/topology/topology.ts";
import type { Boxes } from "../model/topology/topologyParts.ts";
import { type BoxTree, boxTree, clusterBoxId } from "./boxes.ts";
import type { Drawing } from "./drawing.ts";
import { linesOf, NODE, optionsOf, PADDING, rootOf } from "./elkInput.ts";
import { connectedGroups, packed } from "./packing.ts";

// Slower than a person waits for, and more than an eye can follow.
export const MOST_EDGES = 400;
// Between boxes that no policy connects: of clusters there is room for the lines of federation.
const [GAP, INNER_GAP] = [72, 20];

let elk: InstanceType<typeof ELK> | undefined;

/** Where a box or a node is in the box around it. */
interface Placed {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly children: readonly Placed[];
}

/** Lays out services in boxes, off the page's thread: boxes that routes or access connect together, others beside them. */
export async function drawingOf({ nodes, edges }: Topology, boxes: Boxes): Promise<Drawing> {
  const tree = boxTree(nodes, boxes);
  const shown = drawn(edges, tree);
  // Most federations go both ways, and so have no say in what stands left of what.
  const inner = shown.filter(({ type }) => type !== "federation");
  const placed = tree.length === 0 ? await loose(nodes, inner) : await placedBoxes(tree, inner, GAP);
  const boxById = new Map(flat(tree).map((box) => [box.id, box]));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const drawnNodes = (all: readonly Placed[], parentId?: string): readonly Node[] =>
    all.flatMap(({ id, x, y, width, height, children }): readonly Node[] => {
      const box = boxById.get(id);
      const within = parentId === undefined ? {} : { parentId, extent: "parent" as const };
      if (box === undefined) return [{ id, ...within, type: "service", position: { x, y }, data: { node: byId.get(id) }, ...NODE }];
      const data = { name: box.name, kind: box.kind };
      return [
        { id, ...within, type: "box", position: { x, y }, data, style: { width, height }, width, height },
        ...drawnNodes(children, id),
      ];
    });
  const places = new Map(placed.map((box) => [box.id, box]));
  return {
    nodes: [...drawnNodes(placed)],
    edges: shown.map((edge) => ({
      id: edge.id,
      ...endsOf(edge, places),
      ...(edge.label === "" ? {} : { label: edge.label }),
      ...(edge.type === "federation"
        ? {}
        : { markerEnd: { type: MarkerType.ArrowClosed, color: COLORS[edge.type], width: 18, height: 18 } }),
      data: { because: edge.because },
      className: `edge ${edge.type}`,
      // What leads to a policy is clicked, so no edge of traffic lies over it.
      zIndex: edge.type === "traffic" ? 0 : 1,
    })),
  };
}

const COLORS = { route: "var(--accent)", mirror: "var(--text)", access: "var(--good)", traffic: "var(--muted)" } as const;

/** Boxes beside each other; those that edges connect are laid out together. */
async function placedBoxes(boxes: readonly BoxTree[], edges: readonly TopologyEdge[], gap: number): Promise<readonly Placed[]> {
  const boxOf = new Map(boxes.flatMap(({ id, nodes }) => nodes.map((node) => [node, id] as const)));
  const groups = connectedGroups(
    boxes.map(({ id }) => id),
    edges.map(({ from, to }) => [boxOf.get(from) ?? "", boxOf.get(to) ?? ""]),
  );
  const laidOut = await Promise.all(
    groups.map((ids) => {
      const group = boxes.filter(({ id }) => ids.includes(id));
      const names = new Set(ids);
      return placedGroup(
        group,
        edges.filter(({ from }) => names.has(boxOf.get(from) ?? "")),
      );
    }),
  );
  const places = packed(laidOut, gap);
  return laidOut.flatMap(({ children }, i) => {
    const { x: left, y: top } = places[i] ?? { x: 0, y: 0 };
    return children.map((box) => ({ ...box, x: left + box.x, y: top + box.y }));
  });
}

/** One box with others in it, of which each may be laid out for itself, fills a square; what is connected is laid out as a whole. */
async function placedGroup(boxes: readonly BoxTree[], edges: readonly TopologyEdge[]): Promise<Placed> {
  const [box] = boxes;
  if (box === undefined || boxes.length > 1 || box.boxes.length === 0) return placedOf(await layouts().layout(rootOf(boxes, edges)));
  const children = await placedBoxes(box.boxes, edges, INNER_GAP);
  const width = Math.max(...children.map((child) => child.x + child.width)) + 2 * PADDING.side;
  const height = Math.max(...children.map((child) => child.y + child.height)) + PADDING.top + PADDING.side;
  const moved = children.map((child) => ({ ...child, x: child.x + PADDING.side, y: child.y + PADDING.top }));
  return { id: "root", x: 0, y: 0, width, height, children: [{ id: box.id, x: 0, y: 0, width, height, children: moved }] };
}

async function loose(nodes: Topology["nodes"], edges: readonly TopologyEdge[]): Promise<readonly Placed[]> {
  const layoutOptions = { ...optionsOf(edges), "elk.aspectRatio": "1.6" };
  const root = { id: "root", layoutOptions, children: nodes.map(({ id }) => ({ id, ...NODE })), edges: linesOf(edges) };
  return placedOf(await layouts().layout(root)).children;
}

function layouts(): InstanceType<typeof ELK> {
  elk ??= new ELK({ workerUrl });
  return elk;
}

function placedOf({ id, x = 0, y = 0, width = 0, height = 0, children = [] }: ElkNode): Placed {
  return { id, x, y, width, height, children: children.map(placedOf) };
}

/** Where an edge begins and ends. One between clusters goes the short way: to the right, or down where one is above the other. */
function endsOf(
  { type, from, to }: TopologyEdge,
  boxes: ReadonlyMap<string, Placed>,
): Pick<Edge, "source" | "target" | "sourceHandle" | "targetHandle"> {
  if (type !== "federation") return { source: from, target: to };
  const [one, other] = [clusterBoxId(from), clusterBoxId(to)];
  const [a, b] = [boxes.get(one), boxes.get(other)];
  const { x: ax = 0, y: ay = 0, width: aw = 0 } = a ?? {};
  const { x: bx = 0, y: by = 0, width: bw = 0 } = b ?? {};
  if (ax + aw <= bx) return { source: one, target: other };
  if (bx + bw <= ax) return { source: other, target: one };
  const [upper, lower] = ay < by ? [one, other] : [other, one];
  return { source: upper, target: lower, sourceHandle: "bottom", targetHandle: "top" };
}

/** The edges that are drawn: of two federations that go both ways, one, and none where clusters have no boxes. */
function drawn(edges: readonly TopologyEdge[], tree: readonly BoxTree[]): readonly TopologyEdge[] {
  const pairs = new Set<string>();
  const boxes = new Set(tree.map(({ id }) => id));
  const once = edges.filter(({ type, from, to }) => {
    if (type !== "federation") return true;
    const pair = [from, to].sort().join("\n");
    return [from, to].every((name) => boxes.has(clusterBoxId(name))) && !pairs.has(pair) && pairs.add(pair);
  });
  return once.slice(0, MOST_EDGES);
}

function flat(boxes: readonly BoxTree[]): readonly BoxTree[] {
  return boxes.flatMap((box) => [box, ...flat(box.boxes)]);
}
