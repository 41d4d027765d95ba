import { keyOfResource, refOf } from "@isthmus/core";
import { Handle, type NodeProps, Position } from "@xyflow/react";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import type { TopologyNode } from "../model/topology.ts";
import { t } from "../strings.ts";

/** A service in the graph, or a namespace of many. */
function ServiceNode({ data }: NodeProps) {
  const { node } = data as { readonly node?: TopologyNode };
  if (node === undefined) return null;
  return (
    <div className="service-node" data-key={node.destination === undefined ? undefined : keyOfResource(node.destination)}>
      <Ends />
      {node.destination === undefined ? <Name text={node.name} /> : <ObjectLink to={refOf(node.destination)} text={node.name} />}
      <span className="muted">
        <Name
          text={`${node.namespace}${node.isFederated ? ` · ${t.topology.federated}` : ""}${node.isOutside ? ` · ${t.traffic.outside}` : ""}`}
        />
      </span>
    </div>
  );
}

/** The box of a cluster. */
function ClusterNode({ data }: NodeProps) {
  const { cluster } = data as { readonly cluster: string };
  return (
    <div className="cluster-node">
      <Ends />
      <Handle id="top" type="target" position={Position.Top} isConnectable={false} />
      <Handle id="bottom" type="source" position={Position.Bottom} isConnectable={false} />
      <Name text={cluster || t.common.management} />
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

export const NODE_TYPES = { service: ServiceNode, cluster: ClusterNode };
