import type { TrafficPolicy } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, invalid, warning } from "../findings.ts";
import { policyPathOf, workloadFields } from "../networking/istio/policyFields.ts";
import { Claims } from "./claims.ts";
import type { PolicyTarget } from "./sourceClaims.ts";

/** What policies in force have set for the workloads of a Destination, whoever calls them. */
export class WorkloadClaims {
  readonly #target: PolicyTarget;
  readonly #claims = new Claims("workload");

  constructor(target: PolicyTarget) {
    this.#target = target;
  }

  findingsOf(policy: TrafficPolicy): readonly Finding[] {
    const own = workloadFields.findingsOf(policy, this.#target.references);
    if (own.some(({ state }) => state === "INVALID")) return own;
    const fields = workloadFields.fieldsOf(policy, this.#target.references);
    return [
      ...own,
      ...Object.keys(fields).flatMap((field) => this.#scopeFindings(policy, policyPathOf("workload", field))),
      ...this.#claims.conflicts(fields, this.#target.destination),
    ];
  }

  claim(policy: TrafficPolicy): void {
    this.#claims.add(workloadFields.fieldsOf(policy, this.#target.references), policy);
  }

  #scopeFindings({ spec }: TrafficPolicy, path: string): readonly Finding[] {
    const { destination } = this.#target;
    if (Object.keys(destination.spec?.kubeService?.workloadSelectorLabels ?? {}).length === 0) {
      const name = formatRef(refOf(destination));
      const remedy = "give the Service a selector, or leave it out of spec.destinationSelector";
      return [invalid("ServiceWithoutSelector", `${path}: ${name} is a Service without selector, so its pods are unknown: ${remedy}`)];
    }
    return (["sourceSelector", "httpRequestMatchers"] as const).flatMap((narrowing) =>
      (spec?.[narrowing] ?? []).length === 0
        ? []
        : [warning("NoEffect", `spec.${narrowing}: has no effect on ${path}, which is about all requests to the workloads`)],
    );
  }
}
