import type { TopologyNode } from "../model/topology/topology.ts";
import type { Boxes } from "../model/topology/topologyParts.ts";
import { t } from "../strings.ts";
import type { BoxData } from "./drawing.ts";

/** A box of the graph: others, or nodes, are in it. */
export interface BoxTree {
  readonly id: string;
  readonly name: string;
  readonly kind: "cluster" | "namespace";
  /** Ids of all nodes in it, also those in the boxes in it. */
  readonly nodes: readonly string[];
  readonly boxes: readonly BoxTree[];
}

/** The id of the box of a cluster. */
export function clusterBoxId(name: string): string {
  return `cluster ${name}`;
}

/** The boxes of nodes, in the order of their names; none where nothing is boxed. */
export function boxTree(nodes: readonly TopologyNode[], boxes: Boxes): readonly BoxTree[] {
  switch (boxes) {
    case "none":
      return [];
    case "namespace":
      // Namespaces of one name are one in all clusters of a mesh.
      return grouped(nodes, ({ namespace }) => namespace).map(([name, group]) =>
        boxOf("namespace", name, { id: `namespace ${name}`, group }),
      );
    default:
      return grouped(nodes, ({ cluster }) => cluster).map(([name, group]) => ({
        ...boxOf("cluster", name, { id: clusterBoxId(name), group }),
        boxes: boxes === "cluster" ? [] : namespacesOf(name, group),
      }));
  }
}

function namespacesOf(cluster: string, nodes: readonly TopologyNode[]): readonly BoxTree[] {
  return grouped(nodes, ({ namespace }) => namespace).map(([name, group]) =>
    boxOf("namespace", name, { id: `namespace ${cluster}/${name}`, group }),
  );
}

function boxOf(
  kind: BoxTree["kind"],
  name: string,
  { id, group }: { readonly id: string; readonly group: readonly TopologyNode[] },
): BoxTree {
  return { id, name, kind, nodes: group.map((node) => node.id), boxes: [] };
}

function grouped(
  nodes: readonly TopologyNode[],
  nameOf: (node: TopologyNode) => string,
): readonly (readonly [string, readonly TopologyNode[]])[] {
  const groups = new Map<string, TopologyNode[]>();
  for (const node of nodes) {
    const group = groups.get(nameOf(node));
    if (group === undefined) groups.set(nameOf(node), [node]);
    else group.push(node);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What a node says of its place beside the boxes that it is in. */
export function placeText({ namespace, cluster }: Pick<TopologyNode, "namespace" | "cluster">, boxes: Boxes): string {
  if (boxes === "cluster>namespace") return "";
  if (boxes === "cluster") return namespace;
  return [...(boxes === "none" ? [namespace] : []), cluster].filter(Boolean).join(" · ");
}

/** The second line of a node. */
export function aboutNode({ isFederated, isOutside }: TopologyNode, place: string): string {
  return [place, ...(isFederated ? [t.topology.federated] : []), ...(isOutside ? [t.traffic.outside] : [])].filter(Boolean).join(" · ");
}

/** What a box is called; hosts outside have no namespace. */
export function boxName({ name, kind }: Pick<BoxData, "name" | "kind">): string {
  return name || (kind === "cluster" ? t.common.management : t.topology.noNamespace);
}
