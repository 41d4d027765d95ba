import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf, stringMap } from "../shared/schema.ts";

const match = fields({
  context: Type.String(),
  listener: fields({ filterChain: fields({ filter: fields({ name: Type.String(), subFilter: fields({ name: Type.String() }) }) }) }),
});

/** `value` is Envoy's own. */
const patch = fields({ operation: Type.String(), value: Type.Unsafe<object>({ type: "object" }) });

/**
 * Changes what Istio makes of Envoy's configuration for some pods of its namespace. Istio serves it in this version alone. Source:
 * istio.io/docs/reference/config/networking/envoy-filter.
 */
export const EnvoyFilter = defineKind({
  apiVersion: "networking.istio.io/v1alpha3",
  kind: "EnvoyFilter",
  plural: "envoyfilters",
  fields: {
    spec: fields({
      workloadSelector: fields({ labels: stringMap() }),
      configPatches: listOf(fields({ applyTo: Type.String(), match, patch })),
    }),
  },
});
export type EnvoyFilter = ReturnType<typeof EnvoyFilter.parse>;
