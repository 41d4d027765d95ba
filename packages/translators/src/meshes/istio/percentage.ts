import { type Finding, invalidFinding } from "../../findings.ts";

/** A share of requests as Istio writes it; the API says that an omitted percentage is 100. */
export function shareOf(percentage: number | undefined): { readonly value: number } {
  return { value: percentage ?? 100 };
}

// Envoy counts in ten-thousandths of a percent. Source: istio.io/istio pkg/config/validation, validatePercentage.
const SMALLEST = 0.0001;

/** What is wrong with a share that Istio would refuse. */
export function shareFindings(path: string, percentage: number | undefined): readonly Finding[] {
  if (percentage === undefined || percentage === 0 || percentage >= SMALLEST) return [];
  return [invalidFinding("ValueInvalid", `${path}: ${percentage} is less than ${SMALLEST}, the smallest percentage that Istio supports`)];
}
