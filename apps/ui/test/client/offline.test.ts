import { expect, it } from "vitest";
import { withOfflineEdges, withOfflineNodes } from "../../client/topology/offline.ts";
import { svgText } from "../../client/topology/svgText.ts";

const OFFLINE = new Map([["c2", "offline since 09:00"]]);
const box = (name: string) => ({
  id: `cluster ${name}`,
  type: "box",
  position: { x: 0, y: 0 },
  width: 300,
  height: 200,
  data: { name, kind: "cluster" as const },
});
const service = (id: string, cluster: string, place: string) => ({
  id,
  type: "service",
  position: { x: 10, y: 10 },
  data: { place, node: { id, name: id, namespace: "shop", cluster, destination: undefined, isFederated: false } },
});

it("says of the box of a cluster that does not answer since when, in the graph and in its file", () => {
  const nodes = [...withOfflineNodes([box("c1"), box("c2"), service("web", "c2", "shop")], OFFLINE)];
  expect(nodes.map(({ data }) => data["note"])).toEqual([undefined, "offline since 09:00", undefined]);
  expect(nodes[2]).toMatchObject({ className: expect.stringContaining("is-offline"), data: { place: "shop" } });
  expect(svgText({ nodes, edges: [] })).toContain(">c2 · offline since 09:00</text>");
});

it("says it of each service where clusters have no boxes", () => {
  const [there, here] = withOfflineNodes([service("web", "c2", "shop · c2"), service("web", "c1", "shop · c1")], OFFLINE);
  expect(there?.data).toMatchObject({ place: "shop · c2 · offline since 09:00" });
  expect(here?.data).toMatchObject({ place: "shop · c1" });
});

it("marks what begins or ends in such a cluster", () => {
  const edges = [
    { id: "1", source: "a", target: "b", className: "edge route" },
    { id: "2", source: "a", target: "a", className: "edge route" },
  ];
  const marked = withOfflineEdges(edges, OFFLINE, (id) => (id === "b" ? "c2" : "c1"));
  expect(marked.map(({ className }) => className)).toEqual(["edge route is-offline", "edge route"]);
});
