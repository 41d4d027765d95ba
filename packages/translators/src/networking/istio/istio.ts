import { combined, type DestinationInputs, nothing, type TargetTranslation } from "../../inputs.ts";
import { authorizationPolicyFor } from "./authorizationPolicies.ts";
import { destinationRuleFor } from "./destinationRules.ts";
import { localSource } from "./source.ts";
import { federate } from "./virtualMesh/federation.ts";
import { virtualServiceFor } from "./virtualServices.ts";

/** Everything that a Destination of an Istio mesh needs, in its own cluster and in those it is federated to. */
export function translateIstioDestination(inputs: DestinationInputs): TargetTranslation {
  if (inputs.destination.spec?.kubeService === undefined) return nothing;
  const local = localSource(inputs.destination);
  return combined([virtualServiceFor(inputs, local), destinationRuleFor(inputs, local), authorizationPolicyFor(inputs), federate(inputs)]);
}
