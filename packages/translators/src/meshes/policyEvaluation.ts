import type { TrafficPolicy } from "@isthmus/api";
import type { Finding } from "../findings.ts";
import { isWithoutErrors, lastAcceptedKeptHere } from "../policy/lastAccepted.ts";
import type { PolicyEvaluation, PolicyTarget } from "./meshTranslator.ts";

/** How policies are judged one after the other. */
interface Judge {
  /** Beside those that were added before. */
  findingsOf(policy: TrafficPolicy): readonly Finding[];
  add(policy: TrafficPolicy): void;
}

/**
 * In order of precedence, each policy as it is; where something is wrong with it, as it was last accepted, if nothing is wrong with that
 * now. What is not in force leaves no trace for those after it.
 */
export function evaluatedInOrder(
  { policies, lastAccepted }: Pick<PolicyTarget, "policies" | "lastAccepted">,
  { findingsOf, add }: Judge,
): readonly PolicyEvaluation[] {
  return policies.map((policy): PolicyEvaluation => {
    const findings = findingsOf(policy);
    if (isWithoutErrors(findings)) {
      add(policy);
      return { policy, inForce: policy, findings };
    }
    const last = lastAccepted.get(policy);
    if (last === undefined || !isWithoutErrors(findingsOf(last))) return { policy, inForce: undefined, findings };
    add(last);
    return { policy, inForce: last, findings: [...findings, lastAcceptedKeptHere(last.metadata)] };
  });
}
