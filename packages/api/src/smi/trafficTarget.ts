import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";

const subject = Type.Object({
  kind: Type.String(),
  name: Type.String(),
  namespace: Type.Optional(Type.String()),
  // Until v1alpha2; later versions limit ports by a TCPRoute among the rules.
  port: Type.Optional(Type.Integer()),
});

const trafficTargetSpec = Type.Object({
  destination: subject,
  sources: Type.Array(subject),
  rules: Type.Array(Type.Object({ kind: Type.String(), name: Type.String(), matches: Type.Optional(Type.Array(Type.String())) })),
});

/** Which service accounts may call another, and how. Source: github.com/servicemeshinterface/smi-spec, traffic-access. */
export const TrafficTarget = defineKind({
  apiVersion: "access.smi-spec.io/v1alpha2",
  kind: "TrafficTarget",
  plural: "traffictargets",
  versions: ["access.smi-spec.io/v1alpha2", "access.smi-spec.io/v1alpha3"],
  fields: { spec: trafficTargetSpec },
});
export type TrafficTarget = ReturnType<typeof TrafficTarget.parse>;

/** What a TrafficTarget says. */
export type TrafficTargetSpec = Value<typeof trafficTargetSpec>;
/** A service account at either end of a TrafficTarget. */
export type TrafficTargetSubject = Value<typeof subject>;
