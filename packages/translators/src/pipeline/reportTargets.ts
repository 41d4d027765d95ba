import { type Output, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { effectiveAccessPolicies } from "../meshes/enforcedAccess.ts";
import type { VirtualDestinationInputs } from "../meshes/inputs.ts";
import { translatorOf } from "../meshes/meshTranslators.ts";
import { meshCluster } from "../policy/policyScope.ts";
import { isUserRef, policyRefOf, userKeyOf } from "../policy/userResources.ts";
import type { TargetInputs } from "./translateTarget.ts";

/** Whom to tell about one output. */
export interface ReportTargets {
  /** The target that the output was made of. */
  readonly target: ResourceRef;
  /** The users' objects that it exists because of; the target itself when there are none. */
  readonly subjects: readonly ResourceRef[];
}

/** Whom to tell about one output of a target: outputs name the Destination as their parent, and users know their policies. */
export function reportTargetsOf(inputs: TargetInputs, { resource, parents }: Output): ReportTargets {
  const target = "virtualDestination" in inputs ? meshWith(inputs, resource) : refOf(objectOf(inputs));
  const users = parents.filter(isUserRef);
  const policies = "destination" in inputs ? translatorOf(inputs.mesh)?.policiesBehind?.(inputs, resource.kind) : undefined;
  // Whatever a new kind of output is for: that it can't be written is reported to somebody.
  const others = policies ?? (users.length === 0 ? everyPolicyOn(inputs) : []);
  const subjects = [...new Map([...users, ...others].map((ref) => [userKeyOf(ref), ref])).values()];
  return { target, subjects: subjects.length === 0 ? [target] : subjects };
}

/** The mesh that an output of a VirtualDestination is for: its status says how it stands in each. */
function meshWith({ virtualDestination, exports, homes }: VirtualDestinationInputs, { metadata }: Resource): ResourceRef {
  const home = [...exports, ...homes].find(({ mesh }) => meshCluster(mesh) === metadata.clusterName);
  return refOf(home?.mesh ?? virtualDestination);
}

/** The Destination, Mesh, VirtualMesh, VirtualDestination or Workload that a target stands for. */
export function objectOf(inputs: TargetInputs): Resource {
  if ("destination" in inputs) return inputs.destination;
  if ("virtualDestination" in inputs) return inputs.virtualDestination;
  if ("workload" in inputs) return inputs.workload;
  return "mesh" in inputs ? inputs.mesh : inputs.virtualMesh;
}

function everyPolicyOn(inputs: TargetInputs): readonly ResourceRef[] {
  if (!("destination" in inputs)) return [];
  return [...inputs.trafficPolicies, ...effectiveAccessPolicies(inputs, inputs.translationContext.ages)].map((policy) =>
    policyRefOf(policy),
  );
}
