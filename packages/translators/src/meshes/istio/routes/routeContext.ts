import type { Destination } from "@isthmus/api";
import { keyOf, keyOfResource, type ObjectRef } from "@isthmus/core";
import { memoizeRow } from "../../../incremental/memoizeRow.ts";
import { hostnameFrom, serviceKeyOf } from "../../../policy/hosts/hostnames.ts";
import { firstOf } from "../../../policy/virtualDestinations/virtualDestinationRefs.ts";
import type { DestinationInputs, TranslationContext } from "../../inputs.ts";
import type { ReferenceLookup } from "../../meshTranslator.ts";
import type { SourceContext } from "../policyFields.ts";
import type { Source } from "../source.ts";

/** What policies may refer to. */
export interface References extends ReferenceLookup {
  readonly clusterDomains: ReadonlyMap<string, string>;
  /** Whether Envoy may fill something into the values of headers. */
  readonly allowsHeaderOperators: boolean;
}

/** Whether the Settings let policies add headers whose values Envoy makes. */
export function allowsHeaderOperators({ settings }: Pick<TranslationContext, "settings">): boolean {
  return settings?.spec?.policies?.headerOperators === "ALLOWED";
}

/** What the policies on a Destination may refer to. */
export function referencesIn(lookup: ReferenceLookup, translationContext: TranslationContext): References {
  const { destinationOf, virtualDestinationOf } = lookup;
  const { clusterDomains } = translationContext;
  return { destinationOf, virtualDestinationOf, clusterDomains, allowsHeaderOperators: allowsHeaderOperators(translationContext) };
}

/** The references that a Destination's inputs hold. */
export function referencesOf({ destination, referred, virtualDestinations, translationContext }: DestinationInputs): References {
  const known = [destination, ...referred];
  return {
    destinationOf: (service) => known.find((candidate) => serviceKeyOf(candidate) === keyOf(service)),
    virtualDestinationOf: (ref) => firstOf(ref, (key) => virtualDestinations.find((candidate) => keyOfResource(candidate) === key)),
    clusterDomains: translationContext.clusterDomains,
    allowsHeaderOperators: allowsHeaderOperators(translationContext),
  };
}

/** What route policies may know of requests from one source. */
export function routeContext(source: Source, references: References): SourceContext {
  const { clusterName } = source;
  const { destinationOf, virtualDestinationOf, clusterDomains, allowsHeaderOperators: allows } = references;
  return {
    clusterName,
    destinationOf,
    virtualDestinationOf,
    allowsHeaderOperators: allows,
    hostnameOf: (service) => hostnameFrom(clusterName, { service, destination: destinationOf(service) }, clusterDomains),
    isFederatedHere: (service) => isFederatedTo(source.meshKey, destinationOf(service)),
  };
}

function isFederatedTo(meshKey: string, destination: Destination | undefined): boolean {
  const meshes = destination?.status?.appliedFederation?.federatedToMeshes;
  return meshes !== undefined && meshKeysIn(meshes).has(meshKey);
}

// Asked for each mesh that a policy's requests come from.
const meshKeysIn = memoizeRow((meshes: readonly ObjectRef[]) => new Set(meshes.map((mesh) => keyOf({ ...mesh, clusterName: "" }))));
