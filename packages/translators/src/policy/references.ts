import type { DestinationSelector } from "@isthmus/api";
import { displayName, keyOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../findings.ts";
import { serviceOf } from "./hosts/serviceRefs.ts";
import { missingMembers } from "./missingMembers.ts";
import { isWithinLimit, type PolicyLimit } from "./policyScope.ts";
import { namesNothing } from "./selectors.ts";

/** What the services of a destination selector are looked up in. */
export interface SelectorSources {
  /** Whether there is a Destination of a Service, by its key. */
  readonly hasService: (key: string) => boolean;
  /** Of the object that selects. */
  readonly limit: PolicyLimit;
}

/** What is wrong with the services that a destination selector names, and with entries that can't select anything. */
export function selectorFindings(
  path: string,
  selectors: readonly DestinationSelector[] | undefined,
  sources: SelectorSources,
): readonly Finding[] {
  return (selectors ?? []).flatMap((selector, i) => {
    if (namesNothing(selector)) {
      return [
        warningFinding(
          "SelectsNothing",
          `${path}[${i}]: an empty entry selects nothing: name services, or remove the whole list to select all`,
        ),
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
  { hasService, limit }: SelectorSources,
): readonly Finding[] {
  const missing = missingMembers(ref, ["name", "namespace", "clusterName"]);
  if (missing !== undefined) return [invalidFinding("DestinationRefIncomplete", `${path}: ${missing}`)];
  const key = keyOf(serviceOf(ref));
  // Whether there is something beyond is reported to nobody.
  if (!isWithinLimit(limit, serviceOf(ref))) return [];
  if (hasService(key)) return [];
  const remedy =
    "check the name, that its cluster is registered, and that its pods have sidecars of a mesh, as pods in ambient mode have no Destination yet";
  return [invalidFinding("DestinationUnknown", `${path}: Destination for service ${displayName(serviceOf(ref))} not found: ${remedy}`)];
}
