import { type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { DestinationEffect } from "../meshes/effect.ts";
import type { DestinationInputs } from "../meshes/inputs.ts";
import { translatorOf } from "../meshes/meshTranslators.ts";
import type { Translation } from "../pipeline/translate.ts";

/** What the policies in force on a Destination come to; undefined for one that is not known, or that is in no mesh whose translator can say it. */
export function destinationEffect({ cache }: Translation, destination: ResourceRef): DestinationEffect | undefined {
  const inputs = cache.targets.row(resourceKeyOf(destination))?.inputs;
  if (inputs === undefined || !isOfDestination(inputs)) return undefined;
  return translatorOf(inputs.mesh)?.effectOf?.(inputs);
}

function isOfDestination(inputs: object): inputs is DestinationInputs {
  return "destination" in inputs && "trafficPolicies" in inputs;
}
