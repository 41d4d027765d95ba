import { type Output, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { remembered } from "../remembered.ts";
import { isUserRef, userKeyOf } from "../userResources.ts";
import { bearingPolicies } from "./accessForms.ts";
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
  const policies = "destination" in inputs ? policiesBehind(inputs, resource.kind).map((policy) => refOfPolicy(policy)) : [];
  const subjects = [...new Map([...users, ...policies].map((ref) => [userKeyOf(ref), ref])).values()];
  return { target, subjects: subjects.length === 0 ? [target] : subjects };
}

// Asked for once for each output that exists because of it.
const refOfPolicy = remembered((policy: Resource) => refOf(policy));

/** The Destination, Mesh or VirtualMesh that a target stands for. */
export function objectOf(inputs: TargetInputs): Resource {
  if ("destination" in inputs) return inputs.destination;
  return "mesh" in inputs ? inputs.mesh : inputs.virtualMesh;
}

function policiesBehind(inputs: Extract<TargetInputs, { destination: unknown }>, kind: string): readonly Resource[] {
  switch (kind) {
    case "VirtualService":
    case "DestinationRule":
      return inputs.trafficPolicies;
    case "AuthorizationPolicy":
      return bearingPolicies(inputs, inputs.surroundings.ages);
    default:
      return [];
  }
}
