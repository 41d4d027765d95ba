import type { MeshInstallation } from "@isthmus/api";
import type { Mesh } from "../data/kinds.ts";

/** What all types of meshes have. */
export interface MeshFacts {
  /** As people write it: Istio, OSM. */
  readonly type: string;
  readonly installation: MeshInstallation | undefined;
  /** Addresses with port at which other clusters reach it. */
  readonly gateways: readonly string[];
}

/** The facts of a mesh, whatever its type. */
export function meshFacts({ spec = {}, status }: Mesh): MeshFacts {
  const gateways = (status?.appliedEastWestIngressGateways ?? []).flatMap(({ externalAddresses = [], destinationPort }) =>
    externalAddresses.map((address) => (destinationPort === undefined ? address : `${address}:${destinationPort}`)),
  );
  const of = (type: string, installation?: MeshInstallation): MeshFacts => ({ type, installation, gateways });
  if (spec.istio) return of("Istio", spec.istio.installation);
  if (spec.osm) return of("OSM", spec.osm.installation);
  if (spec.linkerd) return of("Linkerd", spec.linkerd.installation);
  if (spec.consulConnect) return of("Consul", spec.consulConnect.installation);
  return of(spec.awsAppMesh ? "App Mesh" : "");
}
