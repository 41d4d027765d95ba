import { Destination, Mesh, type MeshStatus } from "@isthmus/api";
import { type ClusterObjectRef, equalJson, keyOf, keyOfResource, type Report, type Snapshot } from "@isthmus/core";
import { eastWestGateways } from "../networking/istio/virtualMesh/gatewaySelection.ts";
import { byMesh, byService } from "./indexes.ts";
import { publishedSpec } from "./publishedSpec.ts";
import type { Memberships } from "./virtualMeshes.ts";

/** A mesh's status as its VirtualMesh makes it: membership, and the gateways through which other clusters reach the mesh. */
export function attachMeshes(
  snapshot: Snapshot,
  membership: Memberships,
  previous: Snapshot | undefined,
): { readonly snapshot: Snapshot; readonly reports: readonly Report[] } {
  const reports: Report[] = [];
  const before = previous?.of(Mesh);
  const attached = [...snapshot.of(Mesh)].map((mesh) => {
    const key = keyOfResource(mesh);
    const virtualMesh = membership.virtualMeshOf.get(key);
    let status: MeshStatus = observed(mesh);
    if (virtualMesh !== undefined) {
      const { name, namespace = "" } = virtualMesh.metadata;
      status = { ...status, appliedVirtualMesh: { ref: { name, namespace }, ...observed(virtualMesh), spec: publishedSpec(virtualMesh) } };
      if (mesh.spec?.istio !== undefined) {
        const destinations = snapshot
          .of(Destination)
          .where(byMesh, key)
          .filter(({ spec }) => spec?.kubeService?.ref !== undefined);
        const serviceIn = (ref: ClusterObjectRef) => snapshot.of(Destination).where(byService, keyOf(ref)).at(-1);
        const selection = eastWestGateways({ mesh, virtualMesh, destinations, serviceIn });
        reports.push(...selection.reports);
        if (selection.gateways.length > 0) status = { ...status, appliedEastWestIngressGateways: selection.gateways };
      }
    }
    return unchangedOr({ ...mesh, status }, before?.get({ namespace: "", clusterName: "", ...mesh.metadata }));
  });
  return { snapshot: snapshot.apply({ put: attached, remove: [] }), reports };
}

/** The generation that a status is about; 0 is never written. */
export function observed({ metadata }: Pick<Mesh, "metadata">): { readonly observedGeneration?: number } {
  return metadata.generation ? { observedGeneration: metadata.generation } : {};
}

/** The object as it was attached before, when it has not changed since. */
export function unchangedOr<R extends Mesh | Destination>(attached: R, before: R | undefined): R {
  if (before === undefined || before.spec !== attached.spec || before.metadata !== attached.metadata) return attached;
  return equalJson(before.status, attached.status) ? before : attached;
}
