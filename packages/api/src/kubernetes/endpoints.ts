import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields } from "./schema.ts";

const address = fields({
  ip: Type.String(),
  nodeName: Type.String(),
  targetRef: fields({ kind: Type.String(), name: Type.String(), namespace: Type.String() }),
});

const port = fields({ name: Type.String(), port: Type.Integer(), protocol: Type.String(), appProtocol: Type.String() });

const subset = fields({ addresses: Type.Array(address), notReadyAddresses: Type.Array(address), ports: Type.Array(port) });

/** The addresses of a Service, all in one object; superseded by EndpointSlice. */
export const Endpoints = defineKind({
  apiVersion: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  fields: { subsets: Type.Array(subset) },
});
export type Endpoints = ReturnType<typeof Endpoints.parse>;
