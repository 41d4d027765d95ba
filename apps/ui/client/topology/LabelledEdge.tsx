import { BaseEdge, type EdgeProps, Position } from "@xyflow/react";
import { curve, type Point, pathOf, pointOn } from "./geometry.ts";
import { around, LINE_PX, labelLines, labelSize } from "./labelPlaces.ts";

/** An edge of the graph, with its label where no service is below it. */
function LabelledEdge({ sourceX, sourceY, targetX, targetY, sourcePosition, label, markerEnd, data }: EdgeProps) {
  const line = curve({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, sourcePosition === Position.Bottom);
  const text = typeof label === "string" ? label : "";
  return (
    <>
      <BaseEdge path={pathOf(line)} {...(markerEnd === undefined ? {} : { markerEnd })} />
      {text === "" ? null : <Label text={text} at={(data?.["at"] as Point | undefined) ?? pointOn(line, 0.5)} />}
    </>
  );
}

function Label({ text, at }: { readonly text: string; readonly at: Point }) {
  const { x, y, width, height } = around(at, labelSize(text));
  return (
    <g className="react-flow__edge-textwrapper">
      <rect className="react-flow__edge-textbg" x={x} y={y} width={width} height={height} rx={3} />
      <text className="react-flow__edge-text" textAnchor="middle">
        {labelLines(text).map((line, i) => (
          <tspan key={line} x={at.x} y={y + LINE_PX * (i + 0.85)}>
            {line}
          </tspan>
        ))}
      </text>
    </g>
  );
}

export const EDGE_TYPES = { default: LabelledEdge };
