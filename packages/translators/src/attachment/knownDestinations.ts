import { Destination, Mesh, VirtualDestination } from "@isthmus/api";
import { keyOf, keyOfResource, type Report, refOf, type Snapshot } from "@isthmus/core";
import { reported } from "../findings.ts";
import type { Surroundings } from "../inputs.ts";
import { serviceKeyOf } from "../networking/istio/hostnames.ts";
import type { References } from "../networking/istio/routeContext.ts";
import { federationRefusals } from "../networking/istio/virtualMesh/federationRefusals.ts";
import { appliedFederationOf } from "./federation.ts";
import { type Memberships, meshKey } from "./virtualMeshes.ts";

/** Destinations with nothing in their statuses but where they are federated to, and what policies may refer to. */
export interface KnownDestinations {
  /** By key, in key order. */
  readonly byKey: ReadonlyMap<string, Destination>;
  readonly references: References;
  /** On (VirtualMesh, Destination): why a service is not federated although its VirtualMesh says so. */
  readonly reports: readonly Report[];
}

/** Policies are judged by what is federated where, so that comes before them. `snapshot`: with what is in force on its Meshes. */
export function knownDestinations(snapshot: Snapshot, membership: Memberships, { clusterDomains }: Surroundings): KnownDestinations {
  const reports: Report[] = [];
  const byKey = new Map<string, Destination>();
  const byServiceKey = new Map<string, Destination>();
  for (const destination of snapshot.of(Destination)) {
    const virtualMesh = membership.virtualMeshOf.get(meshKey(destination.spec?.mesh ?? {}));
    const appliedFederation = appliedFederationOf(destination, virtualMesh);
    const refusals = appliedFederation === undefined ? [] : federationRefusals(destination, appliedFederation, snapshot.of(Mesh));
    const isFederated = appliedFederation !== undefined && refusals.length === 0;
    const known = { ...destination, status: isFederated ? { appliedFederation } : {} };
    if (virtualMesh !== undefined) {
      for (const refusal of refusals) reports.push(reported(refOf(virtualMesh), refusal, refOf(destination)));
    }
    byKey.set(keyOfResource(destination), known);
    const serviceKey = serviceKeyOf(destination);
    if (serviceKey !== undefined) byServiceKey.set(serviceKey, known);
  }
  return {
    byKey,
    reports,
    references: {
      destinationOf: (service) => byServiceKey.get(keyOf(service)),
      virtualDestinationOf: ({ name, namespace }) => snapshot.of(VirtualDestination).get({ name, namespace, clusterName: "" }),
      clusterDomains,
    },
  };
}
