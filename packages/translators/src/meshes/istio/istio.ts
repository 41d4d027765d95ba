import { type DestinationInputs, emptyTranslation, mergeTranslations, type TargetTranslation } from "../inputs.ts";
import { originOf } from "../outputMetadata.ts";
import { authorizationPolicyFor } from "./access/authorizationPolicies.ts";
import { envoyFilterFor } from "./envoyFilters.ts";
import { withFailover } from "./failover/failover.ts";
import { podsOutsideMesh } from "./podsOutsideMesh.ts";
import { serviceWithoutPorts } from "./serviceWithoutPorts.ts";
import { localSource } from "./source.ts";
import { sourceObjects } from "./sourceObjects.ts";
import { federate } from "./virtualMesh/federation.ts";

/** Everything that a Destination of an Istio mesh needs, in its own cluster and in those it is federated to. */
export function translateIstioDestination(inputs: DestinationInputs): TargetTranslation {
  const { destination, translationContext } = inputs;
  if (destination.spec?.kubeService?.ref === undefined) return emptyTranslation;
  const objects = sourceObjects(inputs);
  const origin = originOf({ translationContext, parents: [destination], annotationsOf: destination });
  const local = withFailover(inputs, objects(localSource(destination), origin));
  return mergeTranslations([
    local,
    authorizationPolicyFor(inputs, origin),
    envoyFilterFor(inputs, origin),
    federate(inputs, objects),
    { outputs: [], reports: [...podsOutsideMesh(inputs), ...serviceWithoutPorts(inputs)] },
  ]);
}
