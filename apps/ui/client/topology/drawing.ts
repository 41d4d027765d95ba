import type { Edge, Node } from "@xyflow/react";
import type { SeverityCounts } from "../model/insights/insightIndex.ts";
import type { TopologyNode } from "../model/topology/topology.ts";

/** Nodes and edges with their places, as the graph draws them. */
export interface Drawing {
  readonly nodes: Node[];
  readonly edges: Edge[];
}

/** What a node of the graph shows. */
export interface ServiceData extends Record<string, unknown> {
  readonly node?: TopologyNode | undefined;
  /** What its boxes do not say of where it is. */
  readonly place?: string;
  /** Undefined: not shown, or none. */
  readonly insights?: SeverityCounts | undefined;
}

/** What a box of the graph shows. */
export interface BoxData extends Record<string, unknown> {
  readonly name: string;
  readonly kind: "cluster" | "namespace";
  /** Of a cluster that does not answer: since when. */
  readonly note?: string;
}
