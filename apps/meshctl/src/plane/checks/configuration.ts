import type { AccessPolicy, ApprovalStatus, TrafficPolicy, VirtualDestination, VirtualMesh } from "@isthmus/api";
import { refOf, resourceKeyOf, type TimedCondition } from "@isthmus/core";
import type { Insight } from "@isthmus/insights";
import { groupsBy } from "../../offline/groupsBy.ts";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { GROUPED_CODES } from "./insightGroups.ts";
import type { PlaneState } from "./planeState.ts";
import { insightFinding } from "./readInsights.ts";

const category = CATEGORIES.configuration;
const reads = ["trafficPolicies", "accessPolicies", "virtualMeshes", "virtualDestinations", "meshes", "workloads", "destinations"] as const;

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
  findings: (state) => {
    const known = insightsOfPolicies(state);
    return policiesOf(state).flatMap((policy) => problemOf(policy, known.get(keyOfPolicy(policy)) ?? []));
  },
};

/** The insights about each policy. */
function insightsOfPolicies(state: PlaneState): ReadonlyMap<string, readonly Insight[]> {
  return groupsBy(state.insights(), ({ object }) => resourceKeyOf(object));
}

function keyOfPolicy(policy: Policy): string {
  return resourceKeyOf(refOf(policy));
}

/** Of insights, those that no other check prints. */
function unprinted(insights: readonly Insight[]): readonly Insight[] {
  return insights.filter(({ code }) => !GROUPED_CODES.has(code));
}

function problemOf(policy: Policy, known: readonly Insight[]): readonly CheckFinding[] {
  const { metadata, status = {} } = policy;
  const { name, namespace = "" } = metadata;
  const remedy = `meshctl describe ${policy.kind.toLowerCase()} ${namespace}/${name}`;
  if (status.state === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    const message = `${subjectName(policy)} is not processed yet: observed generation does not match generation`;
    return [{ code: "HLT1003", severity: "warning", message, remedy: "check the log of the management server: meshctl logs" }];
  }
  if (status.state !== "ACCEPTED") {
    const errors = known.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return unprinted(errors).map(insightFinding);
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

function firstTargetError(policy: Policy): string | undefined {
  return targetsOf(policy).flatMap(({ errors = [] }) => errors)[0];
}

function targetsOf({ status = {} }: Policy): readonly ApprovalStatus[] {
  const { destinations = {}, meshes = {} }: { readonly destinations?: ByTarget; readonly meshes?: ByTarget } = status;
  return [...Object.values(destinations), ...Object.values(meshes)];
}

/** Each warning of a status once: of the object, and of its targets. */
function warningsOf(policy: Policy): readonly string[] {
  return [...new Set([...(policy.status?.warnings ?? []), ...targetsOf(policy).flatMap(({ warnings = [] }) => warnings)])];
}

/** What was accepted, but is not written everywhere, or has warnings. */
export const configurationIsApplied: Check = {
  category,
  description: "Accepted resources are applied, without warnings",
  reads,
  findings: (state) => {
    const known = insightsOfPolicies(state);
    return policiesOf(state).flatMap((policy): readonly CheckFinding[] => {
      const { metadata, status = {} } = policy;
      if (status.state !== "ACCEPTED") return [];
      const insights = known.get(keyOfPolicy(policy)) ?? [];
      const remedy = `meshctl describe ${policy.kind.toLowerCase()} ${metadata.namespace}/${metadata.name}`;
      const applied = (status.conditions as readonly Partial<TimedCondition>[] | undefined)?.find(({ type }) => type === "Applied");
      const warnings = warningsOf(policy).filter((warning) => !insights.some(({ message }) => warning.includes(message)));
      const ofStatus = [
        ...(applied?.status === "False"
          ? [{ code: "CFG1102" as const, message: `${subjectName(policy)} is not applied: ${applied.message ?? ""}` }]
          : []),
        ...warnings.map((warning) => ({ code: "CFG1103" as const, message: `${subjectName(policy)}: ${warning}` })),
      ];
      return [
        ...ofStatus.map((finding) => ({ ...finding, severity: "warning" as const, remedy })),
        ...unprinted(insights).map(insightFinding),
      ];
    });
  },
};

/** What is said of other objects, such as Meshes and registrations. */
export const nothingElseIsFound: Check = {
  category,
  description: "No other rule of meshctl insights finds anything in these objects",
  reads: [...reads, "clusters", "settings"],
  findings: (state) => {
    const policies = new Set(policiesOf(state).map(keyOfPolicy));
    return unprinted(state.insights().filter(({ object }) => !policies.has(resourceKeyOf(object)))).map(insightFinding);
  },
};
