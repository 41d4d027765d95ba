import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignFields } from "./schema.ts";

const address = foreignFields({
  ip: Type.String(),
  nodeName: Type.String(),
  targetRef: foreignFields({ kind: Type.String(), name: Type.String(), namespace: Type.String() }),
});

const port = foreignFields({ name: Type.String(), port: Type.Integer(), protocol: Type.String(), appProtocol: Type.String() });

const subset = foreignFields({ addresses: Type.Array(address), notReadyAddresses: Type.Array(address), ports: Type.Array(port) });
type EndpointsSubset = Value<typeof subset>;

/** The addresses of a Service, all in one object; superseded by EndpointSlice. */
export const Endpoints = defineKind(
  { apiVersion: "v1", kind: "Endpoints", plural: "endpoints", fields: { subsets: Type.Array(subset) } },
  ({ apiVersion, kind, metadata, subsets }) => {
    // Leader election and the times of changes are noted in annotations, every few seconds; they are nothing to translation.
    const { resourceVersion: _, generation: __, ...rest } = projectedMetadata(metadata, () => false);
    return { apiVersion, kind, metadata: rest, ...(subsets === undefined ? {} : { subsets: subsets.map(withReadyAddresses) }) };
  },
);
export type Endpoints = ReturnType<typeof Endpoints.parse>;

function withReadyAddresses({ notReadyAddresses: _, ...ready }: EndpointsSubset): EndpointsSubset {
  return ready;
}
