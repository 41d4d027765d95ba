import { DestinationRule, VirtualService } from "@isthmus/api";
import type { Output } from "@isthmus/core";
import { isSame } from "../../incremental/rows.ts";
import type { DestinationInputs } from "../inputs.ts";
import { type OutputOrigin, outputOf } from "../outputMetadata.ts";
import { canBeCarried, usersRulesInForce, withUsersRules } from "./access/usersRules.ts";
import { destinationRuleSpec } from "./destinationRules.ts";
import { asksContext } from "./policyFields.ts";
import { type Matches, matchesFrom } from "./routes/matches.ts";
import { virtualServiceSpec } from "./routes/virtualServices.ts";
import { objectNameFor, type Source } from "./source.ts";
import { userConflict } from "./userObjects.ts";
import { forAllNamespaces } from "./visibility.ts";

/**
 * The VirtualService and the DestinationRule for requests from one source to a Destination. Neither is written when a user's own
 * object is about the host and must not be met. A DestinationRule has the settings of those of users that it would put out of force, and
 * is not written where those are for some callers alone, unless routes need its subsets.
 */
export type SourceObjects = (source: Source, origin: OutputOrigin) => readonly Output[];

/** Asked for each source in turn. What they say is made once for all meshes that no policy tells apart. */
export function sourceObjects(inputs: DestinationInputs): SourceObjects {
  const { destination, translationContext } = inputs;
  const specsFrom = sharedSpecs(inputs);
  const isFree = (kind: "VirtualService" | "DestinationRule", source: Source) =>
    !translationContext.disallowIntersectingConfig || userConflict(inputs, { kind, source }) === undefined;
  const usersRules = (source: Source) => (inputs.userObjects.length === 0 ? NONE : usersRulesInForce(inputs, source));
  return (source, origin) => {
    const mesh = source.remoteMesh ?? inputs.mesh;
    const { virtualService, destinationRule } = specsFrom(source);
    const { name, namespace, clusterName } = objectNameFor(destination, source);
    const identity = { name, namespace, clusterName, origin };
    const outputs: Output[] = [];
    if (virtualService !== undefined && isFree("VirtualService", source)) {
      outputs.push(outputOf(identity, VirtualService, forAllNamespaces(mesh, VirtualService, virtualService)));
    }
    if (destinationRule !== undefined && isFree("DestinationRule", source)) {
      const theirs = usersRules(source);
      // Policies on other Destinations may route to its subsets, which would answer 503 without a rule.
      if (canBeCarried(theirs) || destinationRule.subsets !== undefined)
        outputs.push(outputOf(identity, DestinationRule, forAllNamespaces(mesh, DestinationRule, withUsersRules(destinationRule, theirs))));
    }
    return outputs;
  };
}

interface Specs {
  readonly virtualService: ReturnType<typeof virtualServiceSpec>;
  readonly destinationRule: ReturnType<typeof destinationRuleSpec>;
}

function sharedSpecs(inputs: DestinationInputs): (source: Source) => Specs {
  const { destination, trafficPolicies } = inputs;
  const home = destination.spec?.kubeService?.ref?.clusterName;
  const made = (source: Source): Specs => ({
    virtualService: virtualServiceSpec(inputs, source),
    destinationRule: destinationRuleSpec(inputs, source),
  });
  // A policy that asks where a service can be called from may say something else for each source.
  if (trafficPolicies.some(({ spec }) => asksContext(spec?.policy ?? {}))) return made;
  const known: { readonly matches: readonly (Matches | undefined)[]; readonly specs: Specs }[] = [];
  return (source) => {
    if (source.remoteMesh === undefined || source.clusterName === home) return made(source);
    const matches = trafficPolicies.map(({ spec }) => matchesFrom(source.clusterName, spec ?? NOTHING));
    const alike = known.find((one) => isSame(one.matches, matches));
    if (alike !== undefined) return alike.specs;
    const specs = made(source);
    known.push({ matches, specs });
    return specs;
  };
}

const NOTHING = {};
const NONE: readonly never[] = [];
