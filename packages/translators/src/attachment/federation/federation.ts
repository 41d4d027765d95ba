import type { Destination, DestinationStatus, VirtualMesh } from "@isthmus/api";
import { equalJson, type ObjectRef } from "@isthmus/core";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { federatedHostname } from "../../policy/hosts/hostnames.ts";
import { isMisspeltSelector } from "../../policy/ineffective.ts";
import { selectingCandidates, selectionKeys } from "../../policy/selection.ts";
import { selectsDestination } from "../../policy/selectors.ts";
import { userRefOf } from "../../policy/userResources.ts";
import { virtualMeshDoubts } from "../../policy/virtualMeshDoubts.ts";
import { failoverInForce } from "../../policy/virtualMeshFailover.ts";
import { meshKey } from "./virtualMeshes.ts";

type AppliedFederation = NonNullable<DestinationStatus["appliedFederation"]>;

type FederationSelector = NonNullable<NonNullable<NonNullable<VirtualMesh["spec"]>["federation"]>["selectors"]>[number];

/**
 * Where its VirtualMesh federates a Destination to, and how; undefined when nowhere. Only Kubernetes services are federated, and none of
 * `observed` clusters: nothing is written there, so no gateway would lead to them.
 */
export function appliedFederationOf(
  destination: Destination,
  virtualMesh: VirtualMesh | undefined,
  observed: ReadonlySet<string>,
): AppliedFederation | undefined {
  const { kubeService, mesh } = destination.spec ?? {};
  const federation = virtualMesh?.spec?.federation;
  if (kubeService?.ref === undefined || mesh === undefined || virtualMesh === undefined || federation === undefined) return undefined;
  if (observed.has(kubeService.ref.clusterName)) return undefined;
  if (virtualMeshDoubts(virtualMesh).federation.size > 0) return undefined;
  const federatedToMeshes = without(federatedMeshes(destination, virtualMesh), meshKey(mesh));
  if (federatedToMeshes.length === 0) return undefined;
  return {
    federatedHostname: federatedHostname(kubeService.ref, federation.hostnameSuffix),
    federatedToMeshes,
    ...(federation.flatNetwork ? { flatNetwork: true } : {}),
    virtualMeshRef: refOfMany(virtualMesh),
    ...(federation.tcpKeepalive === undefined ? {} : { tcpKeepalive: federation.tcpKeepalive }),
    ...failoverFrom(virtualMesh),
  };
}

// One for all that it federates.
const failoverFrom = memoizeRow((virtualMesh: VirtualMesh) => {
  const failover = failoverInForce(virtualMesh);
  return failover === undefined ? {} : { failover };
});
const refOfMany = memoizeRow((virtualMesh: VirtualMesh) => userRefOf(virtualMesh));

/** The meshes that selectors name for a Destination, or all of the VirtualMesh; each once, in key order. */
function federatedMeshes(destination: Destination, { spec }: VirtualMesh): readonly ObjectRef[] {
  const all = spec?.meshes ?? NONE;
  const selectors = spec?.federation?.selectors ?? NONE;
  if (selectors.length === 0) return spec?.federation?.permissive === undefined ? NONE : distinct(all);
  const placed = selectorsByKey(selectors);
  const candidates = [...selectingCandidates({ where: (key) => placed.get(key) ?? NONE }, destination)];
  const selecting = candidates.filter(({ selector }) => selectsDestination(selector.destinationSelectors, destination));
  const lists: (readonly MeshRef[])[] = [];
  for (const { selector } of selecting.sort((a, b) => a.position - b.position)) {
    const { meshes = NONE } = selector;
    if (meshes.length === 0) return distinct(lists.length === 0 ? all : [...lists.flat(), ...all]);
    lists.push(meshes);
  }
  return distinct(lists.length === 1 ? (lists[0] ?? NONE) : lists.flat());
}

/** The selectors that differ from one version of a VirtualMesh to the next; "all" when more than those does that federation reads. */
export const changedFederation = memoizeRow((before: VirtualMesh) => memoizeRow((after: VirtualMesh) => changesIn(before, after)));

function changesIn(before: VirtualMesh, after: VirtualMesh): readonly FederationSelector[] | "all" {
  const [left, right] = [before.spec?.federation ?? {}, after.spec?.federation ?? {}];
  const { selectors: leftSelectors = NONE, eastWestIngressGatewaySelectors: _, ...leftRest } = left;
  const { selectors: rightSelectors = NONE, eastWestIngressGatewaySelectors: __, ...rightRest } = right;
  if (!equalJson(before.spec?.meshes, after.spec?.meshes) || !equalJson(leftRest, rightRest)) return "all";
  if (!equalJson(failoverFrom(before), failoverFrom(after))) return "all";
  // Without selectors others decide.
  if (leftSelectors.length === 0 || rightSelectors.length === 0) return leftSelectors.length === rightSelectors.length ? NONE : "all";
  const [was, is] = [texts(leftSelectors), texts(rightSelectors)];
  const [inWas, inIs] = [new Set(was), new Set(is)];
  const [kept, keptNow] = [was.filter((text) => inIs.has(text)), is.filter((text) => inWas.has(text))];
  // One without meshes ends the list for what it selects, so their order can matter.
  if (!equalJson(kept, keptNow)) return "all";
  const same = new Set(kept);
  const others = (selectors: readonly FederationSelector[]) => selectors.filter((one) => !same.has(JSON.stringify(one)));
  return [...others(leftSelectors), ...others(rightSelectors)];
}

function texts(selectors: readonly FederationSelector[]): readonly string[] {
  return selectors.map((one) => JSON.stringify(one));
}

interface MeshRef {
  readonly name?: string;
  readonly namespace?: string;
}

const NONE: readonly never[] = [];

// Of most VirtualMeshes all meshes are meant, for each of many Destinations.
const distinct = memoizeRow((refs: readonly MeshRef[]): readonly ObjectRef[] => {
  const byKey = new Map(refs.map(({ name = "", namespace = "" }) => [meshKey({ name, namespace }), { name, namespace }]));
  return [...byKey.keys()].sort().flatMap((key) => byKey.get(key) ?? []);
});

/** Some meshes without one of them. All Destinations of a mesh that are federated alike share the list. */
function without(refs: readonly ObjectRef[], key: string): readonly ObjectRef[] {
  const known = withoutEach(refs);
  const list = known.get(key) ?? refs.filter((ref) => meshKey(ref) !== key);
  known.set(key, list);
  return list;
}

const withoutEach = memoizeRow((_: readonly ObjectRef[]) => new Map<string, readonly ObjectRef[]>());

interface PlacedSelector {
  readonly selector: FederationSelector;
  readonly position: number;
}

/** The selectors that are understood, where a Destination would look for them. */
const selectorsByKey = memoizeRow((selectors: readonly FederationSelector[]): ReadonlyMap<string, readonly PlacedSelector[]> => {
  const placed = new Map<string, PlacedSelector[]>();
  selectors.forEach((selector, position) => {
    if (isMisspeltSelector(selector)) return;
    for (const key of new Set(selectionKeys(selector.destinationSelectors))) {
      placed.set(key, [...(placed.get(key) ?? []), { selector, position }]);
    }
  });
  return placed;
});
