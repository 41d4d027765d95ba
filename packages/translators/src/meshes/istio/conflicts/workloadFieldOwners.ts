import type { TrafficPolicy } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import type { PolicyTarget } from "../../meshTranslator.ts";
import { policyPathOf, workloadFields } from "../policyFields.ts";
import { type References, referencesIn } from "../routes/routeContext.ts";
import { FieldOwners } from "./fieldOwners.ts";

/** What policies in force have set for the workloads of a Destination, no matter who calls them. */
export class WorkloadFieldOwners {
  readonly #target: PolicyTarget;
  readonly #references: References;
  readonly #claims = new FieldOwners("workload");

  constructor(target: PolicyTarget) {
    this.#target = target;
    this.#references = referencesIn(target.references, target.translationContext);
  }

  findingsOf(policy: TrafficPolicy): readonly Finding[] {
    const own = workloadFields.findingsOf(policy, this.#references);
    if (own.some(({ state }) => state === "INVALID")) return own;
    const fields = workloadFields.fieldsOf(policy, this.#references);
    return [
      ...own,
      ...Object.keys(fields).flatMap((field) => this.#scopeFindings(policy, policyPathOf("workload", field))),
      ...this.#claims.conflicts(fields, this.#target.destination),
    ];
  }

  add(policy: TrafficPolicy): void {
    this.#claims.add(workloadFields.fieldsOf(policy, this.#references), policy);
  }

  #scopeFindings({ spec }: TrafficPolicy, path: string): readonly Finding[] {
    const { destination } = this.#target;
    if (Object.keys(destination.spec?.kubeService?.workloadSelectorLabels ?? {}).length === 0) {
      const name = formatRef(refOf(destination));
      const remedy = "add a selector to the Service, or exclude it from spec.destinationSelector";
      return [
        invalidFinding("ServiceWithoutSelector", `${path}: ${name} is a Service without a selector, so its pods are unknown: ${remedy}`),
      ];
    }
    return (["sourceSelector", "httpRequestMatchers"] as const).flatMap((narrowing) =>
      (spec?.[narrowing] ?? []).length === 0
        ? []
        : [warningFinding("NoEffect", `spec.${narrowing}: has no effect on ${path}, which applies to all requests to the workloads`)],
    );
  }
}
