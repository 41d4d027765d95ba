import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";

/** Divides a service's traffic over backend services. Source: github.com/servicemeshinterface/smi-spec, traffic-split v1alpha2. */
export const TrafficSplit = defineKind({
  apiVersion: "split.smi-spec.io/v1alpha2",
  kind: "TrafficSplit",
  plural: "trafficsplits",
  versions: ["split.smi-spec.io/v1alpha2", "split.smi-spec.io/v1alpha4", "split.smi-spec.io/v1alpha3"],
  fields: {
    spec: Type.Object({
      service: Type.String(),
      backends: Type.Array(Type.Object({ service: Type.String(), weight: Type.Integer() })),
    }),
  },
});
export type TrafficSplit = ReturnType<typeof TrafficSplit.parse>;
