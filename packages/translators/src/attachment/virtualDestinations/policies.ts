import type { TrafficPolicy, VirtualDestination, VirtualDestinationSpec } from "@isthmus/api";
import { formatRef, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../findings.ts";
import type { MeshWithGateways, TranslationContext } from "../../meshes/inputs.ts";
import { meshTranslators } from "../../meshes/meshTranslators.ts";
import { isWithinLimit, policyScopeFrom } from "../../policy/policyScope.ts";
import { precedence } from "../../policy/precedence.ts";
import { selectsVirtualDestination } from "../../policy/virtualSelection.ts";
import { type CheckedPolicy, lastAcceptedOn } from "../policies.ts";

/** Those of some TrafficPolicies that select a VirtualDestination and may, in order of precedence. */
export function policiesOn(
  virtualDestination: VirtualDestination,
  candidates: readonly CheckedPolicy<TrafficPolicy>[],
  translationContext: TranslationContext,
): readonly TrafficPolicy[] {
  const reach = policyScopeFrom(translationContext);
  const place = { clusterName: "", namespace: virtualDestination.metadata.namespace ?? "" };
  const selecting = new Set(
    candidates.flatMap(({ policy }) =>
      selectsVirtualDestination(policy.spec?.destinationSelector, virtualDestination) && isWithinLimit(reach.limitOf(policy), place)
        ? [policy]
        : [],
    ),
  );
  return [...selecting].sort(precedence(translationContext.ages));
}

interface Circumstances {
  /** Those that may stand for them. */
  readonly candidates: readonly CheckedPolicy<TrafficPolicy>[];
  readonly virtualDestination: VirtualDestination;
  /** What is in force of it. */
  readonly spec: VirtualDestinationSpec | undefined;
  readonly exports: readonly MeshWithGateways[];
  readonly translationContext: TranslationContext;
}

/** Which of the TrafficPolicies that select a VirtualDestination are in force on its host; none while it has none. */
export function evaluatedPolicies(
  policies: readonly TrafficPolicy[],
  { candidates, virtualDestination, spec, exports, translationContext }: Circumstances,
): { readonly trafficPolicies: readonly TrafficPolicy[]; readonly reports: readonly Report[] } {
  if (policies.length === 0) return { trafficPolicies: [], reports: [] };
  const target = refOf(virtualDestination);
  if (spec === undefined) {
    const message = `${formatRef(target)} is not in force, so this policy has no effect on its host: correct it, as its status says`;
    const finding = warningFinding("VirtualDestinationNotWritten", message);
    return { trafficPolicies: [], reports: policies.map((policy) => reportOf(refOf(policy), finding, target)) };
  }
  const lastAccepted = lastAcceptedOn(candidates, (form) => selectsVirtualDestination(form.spec?.destinationSelector, virtualDestination));
  const contention = { virtualDestination, spec, exports, translationContext, policies, lastAccepted };
  const verdicts = meshTranslators.flatMap((translator) => translator.virtualPolicyVerdicts?.(contention) ?? []);
  return {
    trafficPolicies: verdicts.flatMap(({ inForce }) => inForce ?? []),
    reports: verdicts.flatMap(({ policy, findings }) => findings.map((finding) => reportOf(refOf(policy), finding, target))),
  };
}
