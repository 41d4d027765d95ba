import type { Destination, DestinationStatus, VirtualMesh } from "@isthmus/api";
import type { ObjectRef } from "@isthmus/core";
import { federatedHostname } from "../networking/istio/hostnames.ts";
import { remembered } from "../remembered.ts";
import { isMisspeltSelector } from "./ineffective.ts";
import { selectsDestination } from "./selectors.ts";
import { meshKey } from "./virtualMeshes.ts";

type AppliedFederation = NonNullable<DestinationStatus["appliedFederation"]>;

/** Where its VirtualMesh federates a Destination to, and how; undefined when nowhere. Only Kubernetes services are federated. */
export function appliedFederationOf(destination: Destination, virtualMesh: VirtualMesh | undefined): AppliedFederation | undefined {
  const { kubeService, mesh } = destination.spec ?? {};
  const federation = virtualMesh?.spec?.federation;
  if (kubeService?.ref === undefined || mesh === undefined || virtualMesh === undefined || federation === undefined) return undefined;
  const federatedToMeshes = federatedMeshes(destination, virtualMesh).filter((ref) => meshKey(ref) !== meshKey(mesh));
  if (federatedToMeshes.length === 0) return undefined;
  const { name, namespace = "" } = virtualMesh.metadata;
  return {
    federatedHostname: federatedHostname(kubeService.ref, federation.hostnameSuffix),
    federatedToMeshes,
    ...(federation.flatNetwork ? { flatNetwork: true } : {}),
    virtualMeshRef: { name, namespace },
    ...(federation.tcpKeepalive === undefined ? {} : { tcpKeepalive: federation.tcpKeepalive }),
  };
}

/** The meshes that selectors name for a Destination, or all of the VirtualMesh; each once, in key order. */
function federatedMeshes(destination: Destination, { spec }: VirtualMesh): readonly ObjectRef[] {
  const all = spec?.meshes ?? [];
  const selectors = spec?.federation?.selectors ?? [];
  if (selectors.length === 0) return spec?.federation?.permissive === undefined ? [] : distinct(all);
  const found: { readonly name?: string; readonly namespace?: string }[] = [];
  for (const selector of selectors) {
    if (isMisspeltSelector(selector) || !selectsDestination(selector.destinationSelectors, destination)) continue;
    const { meshes = [] } = selector;
    if (meshes.length === 0) return distinct(found.length === 0 ? all : [...found, ...all]);
    found.push(...meshes);
  }
  return distinct(found);
}

// Of most VirtualMeshes all meshes are meant, for each of many Destinations.
const distinct = remembered((refs: readonly { readonly name?: string; readonly namespace?: string }[]): readonly ObjectRef[] => {
  const byKey = new Map(refs.map(({ name = "", namespace = "" }) => [meshKey({ name, namespace }), { name, namespace }]));
  return [...byKey.keys()].sort().flatMap((key) => byKey.get(key) ?? []);
});
