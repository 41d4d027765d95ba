import type { Destination, TrafficTargetSubject, Workload } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, invalidFinding } from "../../findings.ts";

export interface ServiceAccountBehind {
  readonly subject: TrafficTargetSubject | undefined;
  readonly findings: readonly Finding[];
}

/** The one service account under which a Destination's workloads run: SMI names callee and callers by service account. */
export function serviceAccountBehind(destination: Destination, workloads: readonly Workload[]): ServiceAccountBehind {
  const { namespace = "" } = destination.spec?.kubeService?.ref ?? {};
  const names = [...new Set(workloads.map(({ spec }) => spec?.kubernetes?.serviceAccountName || "default"))];
  const [name] = names;
  if (name !== undefined && names.length === 1) return { subject: { kind: "ServiceAccount", name, namespace }, findings: [] };
  const callee = formatRef(refOf(destination));
  const problem =
    name === undefined
      ? `no workloads of the mesh are known behind ${callee}: check the selector of the Service, and that its pods have sidecars`
      : `the workloads behind ${callee} have ${names.length} service accounts (${names.join(", ")}): use one for all of them`;
  return {
    subject: undefined,
    findings: [invalidFinding("ServiceAccountUnknown", `Open Service Mesh allows calls by service account, but ${problem}`)],
  };
}
