import { AuthorizationPolicy, Mesh, PeerAuthentication } from "@isthmus/api";
import { isOwnedBy, kindKeyOf, type OutputSet, type Resource, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { AccessQuery, AccessVerdict } from "../meshes/access.ts";
import type { DestinationInputs } from "../meshes/inputs.ts";
import { translatorOf } from "../meshes/meshTranslators.ts";
import { networkingOwner } from "../meshes/outputMetadata.ts";
import type { Translation } from "../pipeline/translate.ts";

/** Says of requests whether they are let in. */
export interface AccessEvaluator {
  /** Undefined for a Destination that is not known, or in no mesh whose translator can say it. */
  verdict(destination: ResourceRef, question: AccessQuery): AccessVerdict | undefined;
}

/** What is asked of a translation; `networking` may also be what is in clusters of it. */
export type AccessInputs = Pick<Translation, "inputs" | "attached" | "cache"> & { readonly networking: OutputSet };

/**
 * Who may call whom, computed from a translation: of the objects that users wrote in clusters, and of those that are to be written there. Made once for many questions.
 * A mesh that a caller is in is the one of its cluster; of several, the first by key.
 */
export function accessEvaluator(translation: AccessInputs): AccessEvaluator {
  const objects = accessObjects(translation);
  const meshes = new Map<string, Mesh>();
  for (const mesh of translation.attached.of(Mesh)) {
    const { cluster = "" } = mesh.spec?.istio?.installation ?? {};
    if (cluster !== "" && !meshes.has(cluster)) meshes.set(cluster, mesh);
  }
  return {
    verdict(destination, question) {
      const inputs = translation.cache.targets.row(resourceKeyOf(destination))?.inputs;
      if (inputs === undefined || !isOfDestination(inputs)) return undefined;
      const { clusterName = "", namespace = "" } = inputs.destination.spec?.kubeService?.ref ?? {};
      const translator = translatorOf(inputs.mesh);
      const root = translator?.userAccess?.rootNamespaceOf(inputs.mesh) ?? "";
      const places = [...new Set([namespace, root])];
      const facts = {
        inputs,
        callerMesh: meshes.get(question.caller.clusterName),
        objects: places.flatMap((place) => objects.get(`${clusterName}/${place}`) ?? []),
      };
      return translator?.accessVerdict?.(facts, question);
    },
  };
}

/** Objects that let in or refuse, by `cluster/namespace`. Of ours, those that are desired, not those that are there still. */
function accessObjects({ inputs, networking, cache }: AccessInputs): ReadonlyMap<string, readonly Resource[]> {
  const byPlace = new Map<string, Resource[]>();
  const add = (resource: Resource): void => {
    const place = `${resource.metadata.clusterName ?? ""}/${resource.metadata.namespace ?? ""}`;
    const known = byPlace.get(place);
    if (known === undefined) byPlace.set(place, [resource]);
    else known.push(resource);
  };
  const owner = networkingOwner(cache.options.namespace);
  for (const resource of inputs.of(AuthorizationPolicy)) if (!isOwnedBy(resource, owner)) add(resource);
  for (const resource of inputs.of(PeerAuthentication)) add(resource);
  for (const { resource } of networking) if (kindKeyOf(resource) === kindKeyOf(AuthorizationPolicy)) add(resource);
  return byPlace;
}

function isOfDestination(inputs: object): inputs is DestinationInputs {
  return "destination" in inputs && "accessPolicies" in inputs;
}
