import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignFields } from "./schema.ts";

const endpoint = foreignFields({
  addresses: Type.Array(Type.String()),
  conditions: foreignFields({ ready: Type.Boolean(), serving: Type.Boolean(), terminating: Type.Boolean() }),
  nodeName: Type.String(),
  zone: Type.String(),
  targetRef: foreignFields({ kind: Type.String(), name: Type.String(), namespace: Type.String() }),
});

const port = foreignFields({ name: Type.String(), port: Type.Integer(), protocol: Type.String(), appProtocol: Type.String() });

/** The label that names the Service of a slice. */
export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/** A part of the addresses of a Service. Source: kubernetes.io/docs/concepts/services-networking/endpoint-slices. */
export const EndpointSlice = defineKind(
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    fields: { addressType: Type.String(), endpoints: Type.Array(endpoint), ports: Type.Array(port) },
  },
  (slice) => {
    // Kubernetes notes the time of each change in an annotation; it is nothing to translation.
    const { resourceVersion: _, generation: __, ownerReferences: ___, ...metadata } = projectedMetadata(slice.metadata, () => false);
    return { ...slice, metadata };
  },
);
export type EndpointSlice = ReturnType<typeof EndpointSlice.parse>;
