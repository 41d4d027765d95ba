import type { DestinationSelector, VirtualDestination } from "@isthmus/api";
import type { PolicyLimit } from "../policy/policyScope.ts";
import { selectsVirtual, selectsVirtualDestination } from "../policy/virtualSelection.ts";
import { formsOf, isSound } from "./virtualDestinations/forms.ts";

/** What VirtualDestinations are looked up in. */
export interface BackingSources {
  /** All that may be selected. */
  readonly candidates: readonly VirtualDestination[];
  readonly limitOf: (virtualDestination: VirtualDestination) => PolicyLimit;
}

/**
 * The same selection in terms of Services: VirtualDestinations stand for what is behind them. Never empty where the list was not, as an
 * empty one selects everything.
 */
export function backingSelectors<S extends readonly DestinationSelector[] | undefined>(selectors: S, sources: BackingSources): S;
export function backingSelectors(
  selectors: readonly DestinationSelector[] | undefined,
  { candidates, limitOf }: BackingSources,
): readonly DestinationSelector[] | undefined {
  if (selectors?.some(selectsVirtual) !== true) return selectors;
  return selectors.flatMap((selector) => {
    if (!selectsVirtual(selector)) return [selector];
    const { virtualDestinationMatcher: _, virtualDestinationRefs: __, kubeServiceRefs, ...others } = selector;
    const rest = (kubeServiceRefs?.services ?? []).length === 0 ? others : { ...others, kubeServiceRefs };
    const behind = candidates
      .filter((one) => selectsVirtualDestination([selector], one))
      .flatMap((one) => targetsOf(one).flatMap((target) => withinNamespace(target, limitOf(one))));
    // With an unknown member the entry selects no Service, and neither do those that stand for it.
    if (!Object.keys(rest).every((member) => SERVICES.has(member))) return [selector];
    return Object.keys(rest).length === 0 && behind.length > 0 ? behind : [rest, ...behind];
  });
}

const SERVICES: ReadonlySet<string> = new Set(["kubeServiceMatcher", "kubeServiceRefs"]);

/** What its spec selects, or its last accepted one where that is wrong by itself; where both are, what either seems to. */
function targetsOf(virtualDestination: VirtualDestination): readonly DestinationSelector[] {
  const forms = formsOf(virtualDestination);
  const sound = forms.find(isSound);
  return (sound === undefined ? forms : [sound]).flatMap(({ selectors }) => selectors);
}

/** A VirtualDestination that is limited to its namespace has nothing of others behind it. */
function withinNamespace(selector: DestinationSelector, { namespace }: PolicyLimit): readonly DestinationSelector[] {
  if (namespace === undefined) return [selector];
  const { kubeServiceMatcher, kubeServiceRefs, ...rest } = selector;
  const { namespaces = [] } = kubeServiceMatcher ?? {};
  const isMatching = kubeServiceMatcher !== undefined && (namespaces.length === 0 || namespaces.includes(namespace));
  const services = (kubeServiceRefs?.services ?? []).filter((ref) => ref.namespace === namespace);
  return [
    {
      ...rest,
      ...(isMatching ? { kubeServiceMatcher: { ...kubeServiceMatcher, namespaces: [namespace] } } : {}),
      ...(services.length === 0 ? {} : { kubeServiceRefs: { services } }),
    },
  ];
}
