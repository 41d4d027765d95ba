import type { AccessPolicy, ApprovalStatus, TrafficPolicy, VirtualDestination, VirtualMesh } from "@isthmus/api";
import { refOf, resourceKeyOf, type TimedCondition } from "@isthmus/core";
import type { Insight } from "@isthmus/insights";
import { groupsBy } from "../../offline/groupsBy.ts";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { CHECKED_OTHERWISE } from "./insightGroups.ts";
import type { PlaneState } from "./planeState.ts";
import { insightFinding } from "./readInsights.ts";

const category = CATEGORIES.configuration;
const reads = ["trafficPolicies", "accessPolicies", "virtualMeshes", "virtualDestinations"] as const;
// For the codes of what statuses say.
const uses = ["meshes", "workloads", "destinations", "settings", "clusters"] as const;

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
  uses,
  findings: (state) => {
    const known = insightsByObject(state);
    return policiesOf(state).flatMap((policy) => problemOf(policy, known, state));
  },
};

/** The insights about each object. */
interface KnownInsights {
  readonly shown: ReadonlyMap<string, readonly Insight[]>;
  readonly suppressed: ReadonlyMap<string, readonly Insight[]>;
}

function insightsByObject(state: PlaneState): KnownInsights {
  const { shown, suppressed } = state.insights();
  const byObject = (insights: readonly Insight[]) => groupsBy(insights, ({ object }) => resourceKeyOf(object));
  return { shown: byObject(shown), suppressed: byObject(suppressed) };
}

function keyOfPolicy(policy: Policy): string {
  return resourceKeyOf(refOf(policy));
}

/** Of insights, those that no other check prints. */
function unprinted(insights: readonly Insight[], { grouped }: PlaneState): readonly Insight[] {
  return insights.filter(({ code }) => !grouped.has(code));
}

/** Of what a status says, that of which there is no insight. */
function uncovered(texts: readonly string[], insights: readonly Insight[]): readonly string[] {
  const said = new Set(insights.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)));
  return [...new Set(texts)].filter((text) => !said.has(text));
}

function problemOf(policy: Policy, { shown, suppressed }: KnownInsights, state: PlaneState): readonly CheckFinding[] {
  const { metadata, status = {} } = policy;
  const { name, namespace = "" } = metadata;
  const remedy = `meshctl describe ${policy.kind.toLowerCase()} ${namespace}/${name}`;
  if (status.state === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    const message = `${subjectName(policy)} is not processed yet: observed generation does not match generation`;
    return [{ code: "HLT1003", severity: "warning", message, remedy: "check the log of the management server: meshctl logs" }];
  }
  if (status.state !== "ACCEPTED") {
    const errors = [...(status.errors ?? []), ...targetsOf(policy).flatMap((target) => target.errors ?? [])];
    // Without a word of the server about the cause, that it is not in force is what there is to say.
    const key = keyOfPolicy(policy);
    const insights = shown.get(key) ?? [];
    const causes = errors.length === 0 ? [""] : uncovered(errors, [...insights, ...(suppressed.get(key) ?? [])]);
    const isNot = `${subjectName(policy)} is ${status.state}`;
    return [
      ...unprinted(insights, state)
        .filter(({ severity }) => severity === "error")
        .map(insightFinding),
      ...causes.map(
        (cause) => ({ code: "CFG1101", severity: "error", message: cause === "" ? isNot : `${isNot}: ${cause}`, remedy }) as const,
      ),
    ];
  }
  return [];
}

function targetsOf({ status = {} }: Policy): readonly ApprovalStatus[] {
  const { destinations = {}, meshes = {} }: { readonly destinations?: ByTarget; readonly meshes?: ByTarget } = status;
  return [...Object.values(destinations), ...Object.values(meshes)];
}

/** What was accepted, but is not written everywhere, or has warnings. */
export const configurationIsApplied: Check = {
  category,
  description: "Accepted resources are applied, without warnings",
  reads,
  uses,
  findings: (state) => {
    const known = insightsByObject(state);
    return policiesOf(state).flatMap((policy): readonly CheckFinding[] => {
      const { metadata, status = {} } = policy;
      const isAccepted = status.state === "ACCEPTED";
      const key = keyOfPolicy(policy);
      const insights = known.shown.get(key) ?? [];
      const all = [...insights, ...(known.suppressed.get(key) ?? [])];
      const remedy = `meshctl describe ${policy.kind.toLowerCase()} ${metadata.namespace}/${metadata.name}`;
      const applied = (status.conditions as readonly Partial<TimedCondition>[] | undefined)?.find(({ type }) => type === "Applied");
      const warnings = uncovered([...(status.warnings ?? []), ...targetsOf(policy).flatMap((target) => target.warnings ?? [])], all);
      const ofStatus = [
        ...(isAccepted && applied?.status === "False"
          ? [{ code: "CFG1102" as const, message: `${subjectName(policy)} is not applied: ${applied.message ?? ""}` }]
          : []),
        ...warnings.map((warning) => ({ code: "CFG1103" as const, message: `${subjectName(policy)}: ${warning}` })),
      ];
      return [
        ...ofStatus.map((finding) => ({ ...finding, severity: "warning" as const, remedy })),
        // Errors of what is not accepted are with its state.
        ...unprinted(insights, state)
          .filter(({ severity }) => isAccepted || severity !== "error")
          .map(insightFinding),
      ];
    });
  },
};

/** What is said of other objects, such as Meshes and registrations. */
export const nothingElseIsFound: Check = {
  category,
  description: "No other rule of meshctl insights finds anything in these objects",
  reads: [...reads, ...uses],
  findings: (state) => {
    const policies = new Set(policiesOf(state).map(keyOfPolicy));
    const others = state
      .insights()
      .shown.filter(({ object, code }) => !policies.has(resourceKeyOf(object)) && !CHECKED_OTHERWISE.has(code));
    return unprinted(others, state).map(insightFinding);
  },
};
