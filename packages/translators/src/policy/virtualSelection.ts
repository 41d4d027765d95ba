import type { DestinationSelector, VirtualDestination } from "@isthmus/api";
import { displayName, keyOf, keyOfResource, matchesLabels } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../findings.ts";
import { missingMembers } from "./missingMembers.ts";
import { isWithinLimit, type PolicyLimit } from "./policyScope.ts";
import { isUnderstoodDestination } from "./selectors.ts";

type Selectors = readonly DestinationSelector[] | undefined;

/** Where VirtualDestinations are looked up by selectors, and selectors by a VirtualDestination: each by its key, or every one. */
export function virtualSelectionKeys(selectors: Selectors): readonly string[] {
  const keys = (selectors ?? []).flatMap(({ virtualDestinationMatcher, virtualDestinationRefs }) => [
    ...namedIn(virtualDestinationRefs),
    ...(virtualDestinationMatcher === undefined ? [] : [EVERY]),
  ]);
  return [...new Set(keys)];
}

/** What a VirtualDestination is found under by those keys; nothing in a workload cluster, where none is translated. */
export function selectedUnder(virtualDestination: VirtualDestination): readonly string[] {
  return (virtualDestination.metadata.clusterName ?? "") === "" ? [keyOfResource(virtualDestination), EVERY] : [];
}

const EVERY = "every";

/**
 * Whether some entry names a VirtualDestination of the management cluster, or matches it. An empty list selects none. An entry with a
 * member that is not understood selects nothing, as leaving the member out could widen it.
 */
export function selectsVirtualDestination(selectors: Selectors, virtualDestination: VirtualDestination): boolean {
  const { labels: own, namespace = "", clusterName = "" } = virtualDestination.metadata;
  if (clusterName !== "") return false;
  const key = keyOfResource(virtualDestination);
  return (selectors ?? []).some((selector) => {
    if (!isUnderstoodDestination(selector)) return false;
    const { virtualDestinationMatcher, virtualDestinationRefs } = selector;
    if (namedIn(virtualDestinationRefs).includes(key)) return true;
    if (virtualDestinationMatcher === undefined) return false;
    const { labels, namespaces = [] } = virtualDestinationMatcher;
    return matchesLabels(labels, own) && (namespaces.length === 0 || namespaces.includes(namespace));
  });
}

/** Whether an entry names VirtualDestinations, or matches them. */
export function selectsVirtual({ virtualDestinationMatcher, virtualDestinationRefs }: DestinationSelector): boolean {
  return virtualDestinationMatcher !== undefined || (virtualDestinationRefs?.virtualDestinations ?? []).length > 0;
}

function namedIn(refs: DestinationSelector["virtualDestinationRefs"]): readonly string[] {
  return (refs?.virtualDestinations ?? []).map(({ name = "", namespace = "" }) => keyOf({ name, namespace, clusterName: "" }));
}

/** What the VirtualDestinations of selectors are looked up in. */
export interface VirtualSelectionSources {
  /** All that may be selected. */
  readonly candidates: readonly VirtualDestination[];
  /** Of the object that selects. */
  readonly limit: PolicyLimit;
  /** Whether nothing to select is a mistake. */
  readonly isClosing: boolean;
}

/** What is wrong with the VirtualDestinations that selectors name or match. */
export function virtualSelectionFindings(
  path: string,
  selectors: Selectors,
  { candidates, limit, isClosing }: VirtualSelectionSources,
): readonly Finding[] {
  return (selectors ?? []).flatMap((selector, i) => {
    const { virtualDestinationMatcher, virtualDestinationRefs } = selector;
    const refs = (virtualDestinationRefs?.virtualDestinations ?? []).flatMap((ref, j) => {
      const where = `${path}[${i}].virtualDestinationRefs.virtualDestinations[${j}]`;
      const missing = missingMembers(ref, ["name", "namespace"]);
      if (missing !== undefined) return [invalidFinding("DestinationRefIncomplete", `${where}: ${missing}`)];
      const { name = "", namespace = "" } = ref;
      const place = { name, namespace, clusterName: "" };
      // Whether there is something beyond is reported to nobody.
      if (!isWithinLimit(limit, place) || candidates.some((one) => keyOfResource(one) === keyOf(place))) return [];
      const message = `${where}: VirtualDestination ${displayName(place)} not found in the management cluster: check the name, and create it first`;
      return [invalidFinding("DestinationUnknown", message)];
    });
    const isIdle =
      virtualDestinationMatcher !== undefined &&
      limit.clusterName === undefined &&
      !candidates.some((one) => selectsVirtualDestination([{ virtualDestinationMatcher }], one));
    if (!isIdle) return refs;
    const message = `${path}[${i}].virtualDestinationMatcher: matches no VirtualDestination of the management cluster: check labels and namespaces`;
    return [...refs, isClosing ? invalidFinding("NothingSelected", message) : warningFinding("NothingSelected", message)];
  });
}
