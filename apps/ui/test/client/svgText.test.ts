import { expect, it } from "vitest";
import type { Drawing } from "../../client/topology/drawing.ts";
import { svgText } from "../../client/topology/svgText.ts";

const EVIL = `<script>alert("1")</script>\u202E&${"long-".repeat(100)}`;
const node = (id: string, name: string, x: number) => ({
  id,
  parentId: "cluster c1",
  type: "service",
  position: { x, y: 20 },
  width: 168,
  height: 46,
  data: { node: { id, name, namespace: "shop", cluster: "c1", destination: undefined, isFederated: false } },
});
const drawing: Drawing = {
  nodes: [
    { id: "cluster c1", type: "box", position: { x: 100, y: 50 }, width: 500, height: 200, data: { name: EVIL, kind: "cluster" } },
    node("a", "web", 10),
    node("b", EVIL, 300),
  ],
  edges: [
    { id: "1", source: "a", target: "b", label: "25 %", className: "edge route" },
    { id: "2", source: "a", target: "b", label: "10 %", className: "edge mirror" },
    { id: "3", source: "a", target: "gone", className: "edge access" },
  ],
};

it("draws what the graph draws, where it is, and says what lines mean", () => {
  const svg = svgText(drawing);
  // Inside of its cluster.
  expect(svg).toContain('<rect x="110" y="70" width="168" height="46"');
  expect(svg).toContain(">25 %</text>");
  expect(svg.match(/stroke-dasharray="10 3 2 3"/g)).toHaveLength(2);
  for (const word of ["routing", "mirroring", "access", "federation"]) expect(svg).toContain(`>${word}</text>`);
  // An edge to something that is not drawn is left out; the arrows are of two lines.
  expect(svg.match(/l -9 -4.5 v 9 z/g)).toHaveLength(2);
});

it("has names of others as text, however long they are", () => {
  const svg = svgText(drawing);
  expect(svg).not.toContain("<script");
  expect(svg).not.toContain("\u202E");
  expect(svg).toContain("&lt;script&gt;alert(&quot;1&quot;)");
  expect(svg.length).toBeLessThan(8_000);
  expect(svgText({ nodes: [], edges: [] })).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
});
