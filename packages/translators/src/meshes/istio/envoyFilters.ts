import { EnvoyFilter, type HttpFilter } from "@isthmus/api";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../inputs.ts";
import { type OutputOrigin, outputOf } from "../outputMetadata.ts";
import type { WorkloadFields } from "./features/feature.ts";
import { workloadFields } from "./policyFields.ts";
import { allowsHeaderOperators } from "./routes/routeContext.ts";

/**
 * The filters that TrafficPolicies put before a Destination's workloads. Attachment refuses such policies where there are no labels to
 * select workloads by: the filters would be before every pod of the namespace.
 */
export function envoyFilterFor(inputs: DestinationInputs, origin: OutputOrigin): TargetTranslation {
  const { ref, workloadSelectorLabels: labels = {} } = inputs.destination.spec?.kubeService ?? {};
  const filters = Object.values(filtersOf(inputs));
  if (ref === undefined || filters.length === 0 || Object.keys(labels).length === 0) return emptyTranslation;
  const { name, namespace, clusterName } = ref;
  const spec = { workloadSelector: { labels }, configPatches: filters.map(patchOf) } satisfies EnvoyFilter["spec"];
  return { outputs: [outputOf({ name, namespace, clusterName, origin }, EnvoyFilter, spec)], reports: [] };
}

/** Policies do not differ in what they set together; where two set one filter to the same, the first counts. */
function filtersOf({ trafficPolicies, translationContext }: DestinationInputs): WorkloadFields {
  const context = { allowsHeaderOperators: allowsHeaderOperators(translationContext) };
  return Object.assign({}, ...trafficPolicies.map((policy) => workloadFields.fieldsOf(policy, context)).reverse());
}

/** Before the last filter, and so after those that decide who may call. */
function patchOf(value: HttpFilter) {
  const filter = { name: "envoy.filters.network.http_connection_manager", subFilter: { name: "envoy.filters.http.router" } };
  return {
    applyTo: "HTTP_FILTER" as const,
    match: { context: "SIDECAR_INBOUND" as const, listener: { filterChain: { filter } } },
    patch: { operation: "INSERT_BEFORE" as const, value },
  };
}
