import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";

const match = Type.Object({ name: Type.String(), methods: Type.Array(Type.String()), pathRegex: Type.String() });

/** Named kinds of HTTP requests. Source: github.com/servicemeshinterface/smi-spec, traffic-specs. */
export const HTTPRouteGroup = defineKind({
  apiVersion: "specs.smi-spec.io/v1alpha3",
  kind: "HTTPRouteGroup",
  plural: "httproutegroups",
  versions: ["specs.smi-spec.io/v1alpha3", "specs.smi-spec.io/v1alpha4"],
  fields: { spec: Type.Object({ matches: Type.Array(match) }) },
});
export type HTTPRouteGroup = ReturnType<typeof HTTPRouteGroup.parse>;

/** One named kind of requests. */
export type HttpRouteMatch = Value<typeof match>;
