import type { AccessPolicy, ApprovalStatus, TrafficPolicy, VirtualDestination, VirtualMesh } from "@isthmus/api";
import type { TimedCondition } from "@isthmus/core";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import type { PlaneState } from "./planeState.ts";

const category = CATEGORIES.configuration;
const reads = ["trafficPolicies", "accessPolicies", "virtualMeshes", "virtualDestinations"] as const;

type Policy = TrafficPolicy | AccessPolicy | VirtualMesh | VirtualDestination;

type ByTarget = Readonly<Record<string, ApprovalStatus>>;

function policiesOf({ trafficPolicies, accessPolicies, virtualMeshes, virtualDestinations }: PlaneState): readonly Policy[] {
  return [...trafficPolicies, ...accessPolicies, ...virtualMeshes, ...virtualDestinations];
}

/** The resources of users. Source: the published `meshctl check`. */
export const configurationIsAccepted: Check = {
  category,
  description: "Gloo Mesh networking configuration resources are in a valid state",
  reads,
  findings: (state) => policiesOf(state).flatMap(problemOf),
};

function problemOf(policy: Policy): readonly CheckFinding[] {
  const { metadata, status = {} } = policy;
  const { name, namespace = "" } = metadata;
  const remedy = `meshctl describe ${policy.kind.toLowerCase()} ${namespace}/${name}`;
  if (status.state === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    const message = `${subjectName(policy)} is not processed yet: observed generation does not match generation`;
    return [{ code: "HLT1003", severity: "warning", message, remedy: "check the log of the management server: meshctl logs" }];
  }
  if (status.state !== "ACCEPTED") {
    const cause = status.errors?.[0] ?? firstTargetError(policy) ?? "";
    return [
      {
        code: "CFG1101",
        severity: "error",
        message: `${subjectName(policy)} is ${status.state}${cause === "" ? "" : `: ${cause}`}`,
        remedy,
      },
    ];
  }
  return [];
}

function firstTargetError({ status = {} }: Policy): string | undefined {
  const { destinations = {}, meshes = {} }: { readonly destinations?: ByTarget; readonly meshes?: ByTarget } = status;
  return Object.values({ ...destinations, ...meshes }).flatMap(({ errors = [] }) => errors)[0];
}

/** What was accepted, but is not written everywhere, or has warnings. */
export const configurationIsApplied: Check = {
  category,
  description: "Accepted resources are applied, without warnings",
  reads,
  findings: (state) =>
    policiesOf(state).flatMap((policy): readonly CheckFinding[] => {
      const { metadata, status = {} } = policy;
      if (status.state !== "ACCEPTED") return [];
      const remedy = `meshctl describe ${policy.kind.toLowerCase()} ${metadata.namespace}/${metadata.name}`;
      const applied = (status.conditions as readonly Partial<TimedCondition>[] | undefined)?.find(({ type }) => type === "Applied");
      const [warning] = status.warnings ?? [];
      return [
        ...(applied?.status === "False"
          ? [{ code: "CFG1102" as const, message: `${subjectName(policy)} is not applied: ${applied.message ?? ""}` }]
          : []),
        ...(warning === undefined ? [] : [{ code: "CFG1103" as const, message: `${subjectName(policy)}: ${warning}` }]),
      ].map((finding) => ({ ...finding, severity: "warning", remedy }));
    }),
};
