import type { Destination, DestinationSelector } from "@isthmus/api";
import { type Collection, keyOf } from "@isthmus/core";
import { type Finding, invalid, warning } from "../findings.ts";
import { serviceOf } from "../networking/istio/serviceRefs.ts";
import { byService } from "./indexes.ts";
import { isWithin, type Limit } from "./reach.ts";

/** What the services of a destination selector are looked up in. */
export interface SelectorSources {
  readonly destinations: Collection<Destination>;
  /** Of whoever selects. */
  readonly limit: Limit;
}

/** What is wrong with the services that a destination selector names, and with entries that can't select anything. */
export function selectorFindings(
  path: string,
  selectors: readonly DestinationSelector[] | undefined,
  sources: SelectorSources,
): readonly Finding[] {
  return (selectors ?? []).flatMap((selector, i) => {
    if (Object.keys(selector).length === 0) {
      return [
        warning("SelectsNothing", `${path}[${i}]: is empty and selects nothing: name services, or leave the whole list out to select all`),
      ];
    }
    return (selector.kubeServiceRefs?.services ?? []).flatMap((ref, j) =>
      serviceFindings(`${path}[${i}].kubeServiceRefs.services[${j}]`, ref, sources),
    );
  });
}

function serviceFindings(
  path: string,
  ref: { readonly name?: string; readonly namespace?: string; readonly clusterName?: string },
  { destinations, limit }: SelectorSources,
): readonly Finding[] {
  const missing = missingMembers(ref, ["name", "namespace", "clusterName"]);
  if (missing !== undefined) return [invalid("DestinationRefIncomplete", `${path}: ${missing}`)];
  const key = keyOf(serviceOf(ref));
  // Whether there is something beyond is told to nobody.
  if (!isWithin(limit, serviceOf(ref))) return [];
  if (destinations.where(byService, key).length > 0) return [];
  const remedy = "check the name, or whether its cluster is registered and its pods are in a mesh";
  return [invalid("DestinationUnknown", `${path}: Destination ${key} not found: ${remedy}`)];
}

/** Which of the members that a reference needs it lacks, in words; undefined when it has all. */
export function missingMembers<M extends string>(ref: { readonly [K in M]?: string }, members: readonly M[]): string | undefined {
  const missing = members.filter((member) => !ref[member]);
  if (missing.length === 0) return undefined;
  return `${enumeration(missing)} ${missing.length === 1 ? "is" : "are"} missing: ${enumeration(members)} are needed`;
}

function enumeration(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
