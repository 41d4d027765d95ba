import type { Workload, WorkloadSelector } from "@isthmus/api";
import { formatRef, type Resource, refOf } from "@isthmus/core";
import { type Finding, invalidFinding } from "../../findings.ts";
import { agentAddress } from "../../policy/hosts/agentAddress.ts";
import { isWithinLimit, policyScopeFrom, workloadLocation } from "../../policy/policyScope.ts";
import { selectsWorkload } from "../../policy/selectors.ts";
import type { SelectedWorkloadInputs } from "../inputs.ts";

/** Why no EnvoyFilter that leads to the agent can be written for a Workload; `lack`: what it has none of, as in `sends no access logs`. */
export function workloadProblem({ workload, agent, translationContext }: SelectedWorkloadInputs, lack: string): Finding | undefined {
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  const clusterName = controller?.clusterName ?? "";
  const what = `${formatRef(refOf(workload))} ${lack}`;
  if (agentAddress(translationContext, { clusterName, agent }) === undefined) {
    const why =
      agent?.serviceName === ""
        ? `the agent of ${clusterName} has no Service for proxies: set dataPlane.enabled of its chart`
        : `no agent is known in ${clusterName}: install one`;
    const message = `${what}, because ${why}, or set agentServices.address of the Settings`;
    return invalidFinding("AgentAddressUnknown", message);
  }
  if (Object.keys(podLabels).length > 0) return undefined;
  const message = `${what}, because its pods have no labels by which an EnvoyFilter could select them alone: give them a label`;
  return invalidFinding("PodLabelsShared", message);
}

/**
 * Whether pods of a Workload are found by the EnvoyFilter of another one already, which `selectors` of the policy select too: a pod with all
 * labels of a Workload that is selected is selected itself, so it has no filter that was not meant, and none twice.
 */
export function coveringWorkload(
  policy: Resource,
  selectors: readonly WorkloadSelector[] | undefined,
  { coveredBy, translationContext }: SelectedWorkloadInputs,
): Workload | undefined {
  if (selectors === undefined) return undefined;
  const limit = policyScopeFrom(translationContext).limitOf(policy);
  return coveredBy.find((one) => isWithinLimit(limit, workloadLocation(one)) && selectsWorkload(selectors, one));
}
