import ELK, { type ElkNode } from "elkjs/lib/elk.bundled.js";
import { expect, it } from "vitest";
import type { TopologyEdge } from "../../client/model/topology/topology.ts";
import type { Drawing } from "../../client/topology/drawing.ts";
import { NODE, rootOf } from "../../client/topology/elkInput.ts";
import { absoluteBoxes, curveBetween, pointOn } from "../../client/topology/geometry.ts";
import { around, labelPlaces, labelSize, overlap } from "../../client/topology/labelPlaces.ts";
import { svgText } from "../../client/topology/svgText.ts";

const LABEL = "12.4/s · 6.3 % errors · p95 98 ms";
const service = (id: string, x: number, y: number) => ({ id, type: "service", position: { x, y }, data: {}, ...NODE });
const box = (name: string, x: number, y: number) => ({
  id: name,
  type: "box",
  position: { x, y },
  width: 600,
  height: 300,
  data: { name, kind: "cluster" as const },
});
const edge = (source: string, target: string, label = LABEL) => ({ id: `${source} ${target}`, source, target, label });

/** The middle of an edge's line, where labels were before. */
function middle({ nodes }: Drawing, from: string, to: string) {
  const boxes = absoluteBoxes(nodes);
  const boxOf = (id: string) => boxes.get(id) ?? expect.fail(`no ${id}`);
  return pointOn(curveBetween(boxOf(from), boxOf(to), false), 0.5);
}

/** What labels cover: services, and other labels. */
function coveredIn(drawing: Drawing): readonly string[] {
  const boxes = absoluteBoxes(drawing.nodes);
  const labels = [...labelPlaces(drawing)].map(([id, place]) => [id, around(place, labelSize(LABEL))] as const);
  const services = drawing.nodes.filter(({ type }) => type === "service").map(({ id }) => id);
  return labels.flatMap(([id, label]) => [
    ...services.flatMap((name) => (overlap(label, boxes.get(name) ?? expect.fail()) ? [`${id}: ${name}`] : [])),
    ...labels.flatMap(([other, area]) => (other !== id && overlap(label, area) ? [`${id}: ${other}`] : [])),
  ]);
}

it("a label stays in the middle of its line where nothing is below it", () => {
  const drawing = { nodes: [service("a", 0, 0), service("b", 400, 80)], edges: [edge("a", "b")] };
  expect(labelPlaces(drawing).get("a b")).toEqual(middle(drawing, "a", "b"));
});

it("a label covers no service, no name of a box and no other label", () => {
  const nodes = [service("a", 0, 0), service("between", 290, 0), service("c", 600, 0), service("d", 600, 68), service("e", 600, 136)];
  const drawing = { nodes, edges: [edge("a", "c"), edge("a", "d"), edge("a", "e"), edge("between", "c")] };
  const { x, y } = middle(drawing, "a", "c");
  // Where it would be, a service is.
  expect([x > 290 && x < 290 + NODE.width, y < NODE.height]).toEqual([true, true]);
  expect(coveredIn(drawing)).toEqual([]);
  const name = { nodes: [box("cluster-1", 500, 5), service("a", 0, 0), service("b", 900, 0)], edges: [edge("a", "b")] };
  const beside = labelPlaces(name).get("a b") ?? expect.fail();
  expect(overlap(around(middle(name, "a", "b"), labelSize(LABEL)), { x: 500, y: 5, width: 90, height: 28 })).toBe(true);
  expect(overlap(around(beside, labelSize(LABEL)), { x: 500, y: 5, width: 90, height: 28 })).toBe(false);
});

it("a label that has room nowhere is there all the same, and none is placed for what has none", () => {
  const tight = { nodes: [service("a", 0, 0), service("b", 172, 0)], edges: [edge("a", "b"), edge("b", "a", ""), edge("a", "gone")] };
  expect([...labelPlaces(tight).keys()]).toEqual(["a b"]);
});

it("a file has labels where the graph has them, one figure below the other", () => {
  const nodes = [service("a", 0, 0), service("b", 400, 0)];
  const svg = svgText({ nodes, edges: [{ ...edge("a", "b"), className: "edge traffic", data: { at: { x: 300, y: 99.55 } } }] });
  const lines = [...svg.matchAll(/<text x="300" y="([\d.]+)" text-anchor="middle"[^>]*>([^<]*)</g)].map(([, y, words]) => [y, words]);
  expect(lines).toEqual([
    ["91.1", "12.4/s"],
    ["104.1", "6.3 % errors"],
    ["117.1", "p95 98 ms"],
  ]);
});

it("services in the boxes of several clusters have room between them for the labels of their edges", async () => {
  const rates = { requests: 1 } as unknown as NonNullable<TopologyEdge["rates"]>;
  const counted = (from: string, to: string) => ({
    id: `${from} ${to}`,
    from,
    to,
    type: "traffic",
    label: LABEL,
    rates,
    because: undefined,
  });
  const boxes = ["c1", "c2"].map((name) => ({
    id: name,
    name,
    kind: "cluster" as const,
    nodes: [`${name}/web`, `${name}/cart`],
    boxes: [],
  }));
  const edges = [counted("c1/web", "c1/cart"), counted("c1/cart", "c2/web"), counted("c2/web", "c2/cart")] as readonly TopologyEdge[];
  const { children = [] } = await new ELK().layout(rootOf(boxes, edges));
  for (const { children: placed = [] } of children) {
    const [left, right] = [...placed].sort((a, b) => (a.x ?? 0) - (b.x ?? 0)) as [ElkNode, ElkNode];
    expect((right.x ?? 0) - (left.x ?? 0) - NODE.width).toBeGreaterThan(labelSize(LABEL).width);
  }
});
