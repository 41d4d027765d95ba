import type { Edge, Node } from "@xyflow/react";

/** Nodes and edges with their places, as the graph draws them. */
export interface Drawing {
  readonly nodes: Node[];
  readonly edges: Edge[];
}
