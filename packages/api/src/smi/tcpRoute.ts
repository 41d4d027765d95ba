import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";

/** Ports, to be named among a TrafficTarget's rules. Source: github.com/servicemeshinterface/smi-spec, traffic-specs v1alpha4. */
export const TCPRoute = defineKind({
  apiVersion: "specs.smi-spec.io/v1alpha4",
  kind: "TCPRoute",
  plural: "tcproutes",
  versions: ["specs.smi-spec.io/v1alpha4"],
  fields: { spec: Type.Object({ matches: Type.Object({ name: Type.Optional(Type.String()), ports: Type.Array(Type.Integer()) }) }) },
});
export type TCPRoute = ReturnType<typeof TCPRoute.parse>;
