import { keyOfResource, refOf } from "@isthmus/core";
import { Handle, type NodeProps, Position } from "@xyflow/react";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { SeverityTotals } from "../components/Severity.tsx";
import { ToneShape } from "../components/StatusMark.tsx";
import { aboutNode, boxName } from "./boxes.ts";
import type { BoxData, ServiceData } from "./drawing.ts";

/** A service in the graph, or a namespace of many. */
function ServiceNode({ data }: NodeProps) {
  const { node, place = "", insights } = data as ServiceData;
  if (node === undefined) return null;
  return (
    <div className="service-node" data-key={node.destination === undefined ? undefined : keyOfResource(node.destination)}>
      <Ends />
      {node.destination === undefined ? <Name text={node.name} /> : <ObjectLink to={refOf(node.destination)} text={node.name} />}
      <span className="muted">
        <Name text={aboutNode(node, place)} />
      </span>
      {insights === undefined ? null : <SeverityTotals counts={insights} />}
    </div>
  );
}

/** The box of a cluster, or of a namespace. */
function BoxNode({ data }: NodeProps) {
  const { name, kind, note } = data as BoxData;
  return (
    <div className={`${kind}-node${note === undefined ? "" : " stale"}`}>
      <Ends />
      <Handle id="top" type="target" position={Position.Top} isConnectable={false} />
      <Handle id="bottom" type="source" position={Position.Bottom} isConnectable={false} />
      <Name text={boxName({ name, kind })} />
      {note === undefined ? null : (
        <span className="status box-note" data-tone="bad">
          <ToneShape tone="bad" />
          <span>{note}</span>
        </span>
      )}
    </div>
  );
}

/** Where edges end. */
function Ends() {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}

export const NODE_TYPES = { service: ServiceNode, box: BoxNode };
