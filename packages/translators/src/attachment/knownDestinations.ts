import { Destination, VirtualDestination } from "@isthmus/api";
import { keyOf, keyOfResource, type Snapshot } from "@isthmus/core";
import type { Surroundings } from "../inputs.ts";
import { serviceKeyOf } from "../networking/istio/hostnames.ts";
import type { References } from "../networking/istio/routeContext.ts";
import { appliedFederationOf } from "./federation.ts";
import { type Memberships, meshKey } from "./virtualMeshes.ts";

/** Destinations with nothing in their statuses but where they are federated to, and what policies may refer to. */
export interface KnownDestinations {
  /** By key, in key order. */
  readonly byKey: ReadonlyMap<string, Destination>;
  readonly references: References;
}

/** The first step of attachment: policies are judged by what is federated where. */
export function knownDestinations(snapshot: Snapshot, membership: Memberships, { clusterDomains }: Surroundings): KnownDestinations {
  const byKey = new Map<string, Destination>();
  const byServiceKey = new Map<string, Destination>();
  for (const destination of snapshot.of(Destination)) {
    const virtualMesh = membership.virtualMeshOf.get(meshKey(destination.spec?.mesh ?? {}));
    const appliedFederation = appliedFederationOf(destination, virtualMesh);
    const known = { ...destination, status: appliedFederation === undefined ? {} : { appliedFederation } };
    byKey.set(keyOfResource(destination), known);
    const serviceKey = serviceKeyOf(destination);
    if (serviceKey !== undefined) byServiceKey.set(serviceKey, known);
  }
  return {
    byKey,
    references: {
      destinationOf: (service) => byServiceKey.get(keyOf(service)),
      virtualDestinationOf: ({ name, namespace }) => snapshot.of(VirtualDestination).get({ name, namespace, clusterName: "" }),
      clusterDomains,
    },
  };
}
