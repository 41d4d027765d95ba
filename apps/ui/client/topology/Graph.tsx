import type { ResourceRef } from "@isthmus/core";
import { useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Controls, type Edge, ReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useEffect, useMemo, useState } from "react";
import { save } from "../components/save.ts";
import { paramsOf } from "../model/objectPath.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { Boxes, TopologyInsights } from "../model/topology/topologyParts.ts";
import { t } from "../strings.ts";
import { placeText } from "./boxes.ts";
import type { BoxData, Drawing, ServiceData } from "./drawing.ts";
import { EDGE_TYPES } from "./LabelledEdge.tsx";
import { labelPlaces } from "./labelPlaces.ts";
import { drawingOf, MOST_EDGES } from "./layout.ts";
import { NODE_TYPES } from "./nodes.tsx";
import { withOfflineEdges, withOfflineNodes } from "./offline.ts";
import { svgText } from "./svgText.ts";

export interface GraphProps {
  readonly topology: Topology;
  readonly boxes: Boxes;
  /** Undefined: they are not shown. */
  readonly insights: TopologyInsights | undefined;
  /** Ids of nodes and edges that are marked; undefined: nothing is looked for. */
  readonly found: ReadonlySet<string> | undefined;
  /** Clusters that do not answer, with what is said of each. */
  readonly offline: ReadonlyMap<string, string>;
}

/** The services and what connects them, laid out again when they change; the last drawing stays until then. */
export function Graph({ topology, boxes, insights, found, offline }: GraphProps) {
  const { colorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  const [drawing, setDrawing] = useState<Drawing>();
  const [hasFailed, setHasFailed] = useState(false);
  const shape = [
    boxes,
    ...topology.nodes.map(({ id }) => id),
    ...topology.edges.map(({ id, label, rates }) => `${id} ${rates === undefined ? label : ""}`),
  ].join("\n");
  // What was counted changes each minute, and moves nothing.
  const labels = useMemo(() => new Map(topology.edges.map(({ id, label }) => [id, label])), [topology]);
  const byId = useMemo(() => new Map(topology.nodes.map((node) => [node.id, node])), [topology]);
  const labelled = useMemo(() => {
    const all = drawing?.edges.map((edge) => withLabel(edge, labels.get(edge.id))) ?? [];
    const places = labelPlaces({ nodes: drawing?.nodes ?? [], edges: all });
    return all.map((edge) => (places.has(edge.id) ? { ...edge, data: { ...edge.data, at: places.get(edge.id) } } : edge));
  }, [drawing, labels]);
  const edges = useMemo(() => {
    const boxNames = new Map(drawing?.nodes.flatMap(({ id, type, data }) => (type === "box" ? [[id, (data as BoxData).name]] : [])));
    const shown = labelled.map((edge) => marked(edge, found));
    return [...withOfflineEdges(shown, offline, (id) => byId.get(id)?.cluster ?? boxNames.get(id))];
  }, [drawing, labelled, found, offline, byId]);
  const nodes = useMemo(() => {
    const shown =
      drawing?.nodes.map((node) => {
        if (node.type !== "service") return node;
        const current = byId.get(node.id) ?? (node.data as ServiceData).node;
        const place = current === undefined ? "" : placeText(current, boxes);
        return marked({ ...node, data: { node: current, place, insights: insights?.get(node.id) } satisfies ServiceData }, found);
      }) ?? [];
    return [...withOfflineNodes(shown, offline)];
  }, [drawing, byId, boxes, insights, found, offline]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the graph changes with its shape, not with each status
  useEffect(() => {
    let isCurrent = true;
    drawingOf(topology, boxes).then(
      (next) => {
        if (isCurrent) setDrawing(next);
      },
      () => {
        if (isCurrent) setHasFailed(true);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [shape]);
  if (hasFailed) return <p role="alert">{t.topology.layoutFailed}</p>;
  if (drawing === undefined) return <p role="status">{t.topology.layout}</p>;
  return (
    <div className="graph">
      <ReactFlow
        key={shape}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={colorScheme === "auto" ? "system" : colorScheme}
        fitView
        fitViewOptions={{ maxZoom: 1.1, padding: 0.06 }}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        // By keyboard the table leads there, which has all edges.
        onEdgeClick={(_, { data }) => {
          const because = data?.["because"] as ResourceRef | undefined;
          if (because !== undefined) void navigate({ to: "/object/$group/$kind/$cluster/$namespace/$name", params: paramsOf(because) });
        }}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
      <button
        type="button"
        className="button small graph-export"
        title={t.topology.exportWhy}
        onClick={() => save("topology.svg", svgText({ nodes, edges }), "image/svg+xml")}
      >
        {t.topology.exportSvg}
      </button>
      {topology.edges.length > MOST_EDGES ? <p className="note">{t.topology.mostEdges(MOST_EDGES)}</p> : null}
    </div>
  );
}

function withLabel({ label: _, ...edge }: Edge, label: string | undefined): Edge {
  return label ? { ...edge, label } : edge;
}

/** What is not looked for steps back. */
function marked<P extends { readonly id: string; readonly className?: string }>(part: P, found: ReadonlySet<string> | undefined): P {
  if (found === undefined) return part;
  return { ...part, className: `${part.className ?? ""} ${found.has(part.id) ? "is-found" : "is-dim"}` };
}
