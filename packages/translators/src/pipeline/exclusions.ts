import { Destination, Workload } from "@isthmus/api";
import { kindKeyOf, type ResourceRef } from "@isthmus/core";
import { exclusionCauses } from "../discovery/scope.ts";
import type { Translation } from "./translate.ts";

/** What somebody edited so that a Destination or Workload is not discovered any more; empty when it is gone for another reason. */
export function exclusionsOf(discovered: ResourceRef, before: Translation, now: Translation): readonly ResourceRef[] {
  const place = placeOf(discovered, before);
  if (place === undefined) return [];
  return exclusionCauses({ before: before.inputs, now: now.inputs, place, planeNamespace: now.cache.options.namespace });
}

function placeOf(ref: ResourceRef, { attached }: Translation) {
  if (kindKeyOf(ref) === kindKeyOf(Destination)) return attached.of(Destination).get(ref)?.spec?.kubeService?.ref;
  return kindKeyOf(ref) === kindKeyOf(Workload) ? attached.of(Workload).get(ref)?.spec?.kubernetes?.controller : undefined;
}
