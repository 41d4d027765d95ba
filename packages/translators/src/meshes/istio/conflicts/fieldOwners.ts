import type { TrafficPolicy } from "@isthmus/api";
import { equalJson, formatRef, type Resource, refOf } from "@isthmus/core";
import { type Finding, invalidFinding } from "../../../findings.ts";
import type { Writes, Written } from "../features/feature.ts";
import { policyPathOf } from "../policyFields.ts";

interface Claim {
  readonly value: unknown;
  readonly owner: TrafficPolicy;
}

/** The fields of one output that policies in force have set, each by the first of them. */
export class FieldOwners<W extends Writes> {
  readonly #writes: W;
  readonly #byField = new Map<string, Claim>();

  constructor(writes: W) {
    this.#writes = writes;
  }

  /** Undefined while nothing is set. */
  get first(): Claim | undefined {
    return this.#byField.values().next().value;
  }

  /** Those of some fields that are set already, each as users set it. */
  pathsHeld(fields: Written[W]): readonly string[] {
    return Object.keys(fields).flatMap((field) => (this.#byField.has(field) ? [policyPathOf(this.#writes, field)] : []));
  }

  add(fields: Written[W], owner: TrafficPolicy): void {
    for (const [field, value] of Object.entries(fields)) if (!this.#byField.has(field)) this.#byField.set(field, { value, owner });
  }

  /** Fields that a policy with precedence sets to another value. Equal values are no conflict. */
  conflicts(fields: Written[W], target: Resource): readonly Finding[] {
    return Object.entries(fields).flatMap(([field, value]) => {
      const claim = this.#byField.get(field);
      if (claim === undefined || equalJson(claim.value, value)) return [];
      const owner = formatRef(refOf(claim.owner));
      const where = `for the same traffic to ${formatRef(refOf(target))}`;
      const remedy = "use the same value in both, narrow one of the policies, or remove this field";
      const path = policyPathOf(this.#writes, field);
      return [invalidFinding("FieldConflict", `${path}: ${owner} has precedence and sets ${field} ${where}: ${remedy}`)];
    });
  }
}
