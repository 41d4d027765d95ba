import { AuthorizationPolicy, DestinationRule, TrafficPolicy } from "@isthmus/api";
import { type Output, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { DestinationInputs } from "../inputs.ts";
import { remembered } from "../remembered.ts";
import { isUserRef, userKeyOf } from "../userResources.ts";
import { bearingPolicies } from "./accessForms.ts";
import { policiesWriting } from "./istio/policyFields.ts";
import type { TargetInputs } from "./targets.ts";

/** Whom to tell about one output. */
export interface Concern {
  /** The target that the output was made of. */
  readonly target: ResourceRef;
  /** The users' objects that it exists because of; the target itself when there are none. */
  readonly subjects: readonly ResourceRef[];
}

/** Whom to tell about one output of a target: outputs name the Destination as their parent, and users know their policies. */
export function concernedBy(inputs: TargetInputs, { resource, parents }: Output): Concern {
  const target = refOf(objectOf(inputs));
  const users = parents.filter(isUserRef);
  const policies = "destination" in inputs ? policiesBehind(inputs, resource.kind) : undefined;
  // Whatever a new kind of output is for: that it can't be written is told to somebody.
  const others = policies ?? (users.length === 0 ? everyPolicyOn(inputs) : []);
  const subjects = [...new Map([...users, ...others].map((ref) => [userKeyOf(ref), ref])).values()];
  return { target, subjects: subjects.length === 0 ? [target] : subjects };
}

// Asked for once for each output that exists because of it.
const refOfPolicy = remembered((policy: Resource) => refOf(policy));

/** The Destination, Mesh or VirtualMesh that a target stands for. */
export function objectOf(inputs: TargetInputs): Resource {
  if ("destination" in inputs) return inputs.destination;
  return "mesh" in inputs ? inputs.mesh : inputs.virtualMesh;
}

/** The policies that have a say in a Destination's outputs of one kind; undefined for kinds that name their reasons as parents. */
function policiesBehind(inputs: DestinationInputs, kind: string): readonly ResourceRef[] | undefined {
  if (kind === AuthorizationPolicy.kind) return bearingPolicies(inputs, inputs.surroundings.ages).map((policy) => refOfPolicy(policy));
  const writers = policiesWriting(kind, inputs.trafficPolicies)?.map((policy) => refOfPolicy(policy));
  return kind === DestinationRule.kind ? [...(writers ?? []), ...subsetPolicies(inputs)] : writers;
}

/** The policies that need subsets of a Destination, which its DestinationRule has: mostly they are in force on others. */
function subsetPolicies({ destination }: DestinationInputs): readonly ResourceRef[] {
  const { apiVersion, kind } = TrafficPolicy;
  return (destination.status?.requiredSubsets ?? []).flatMap(({ trafficPolicyRef }) =>
    trafficPolicyRef === undefined ? [] : [{ apiVersion, kind, clusterName: "", ...trafficPolicyRef }],
  );
}

function everyPolicyOn(inputs: TargetInputs): readonly ResourceRef[] {
  if (!("destination" in inputs)) return [];
  return [...inputs.trafficPolicies, ...bearingPolicies(inputs, inputs.surroundings.ages)].map((policy) => refOfPolicy(policy));
}
