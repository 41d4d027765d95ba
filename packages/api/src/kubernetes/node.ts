import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignFields } from "./schema.ts";

const nodeStatus = foreignFields({
  addresses: Type.Array(foreignFields({ type: Type.String(), address: Type.String() })),
  images: Type.Array(foreignFields({ names: Type.Array(Type.String()) })),
});

/** Part of the name of an image that only nodes of kind (kind.sigs.k8s.io) have: their internal addresses can be reached from outside. */
export const KIND_NODE_IMAGE = "kindnetd";

/** A Kubernetes Node. Its status changes every few seconds: what leaves the cluster is where it is and how it is reached. */
export const Node = defineKind(
  { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false, fields: { status: nodeStatus } },
  (node) => {
    const { apiVersion, kind, status } = node;
    const { resourceVersion: _, generation: __, ...metadata } = projectedMetadata(node.metadata, () => false);
    const marks = status?.images?.flatMap(({ names = [] }) => names.filter((name) => name.includes(KIND_NODE_IMAGE))) ?? [];
    const addresses = status?.addresses;
    return {
      apiVersion,
      kind,
      metadata,
      status: { ...(addresses === undefined ? {} : { addresses }), ...(marks.length === 0 ? {} : { images: [{ names: marks }] }) },
    };
  },
);
export type Node = ReturnType<typeof Node.parse>;
