import { type Destination, type Mesh, PeerAuthentication, rootNamespaceOf } from "@isthmus/api";
import { inputKind, join } from "../incremental/join.ts";
import { meshCluster } from "../policy/policyScope.ts";
import { type AttachedSources, destinations } from "./destinationJoins.ts";

const NONE: readonly never[] = [];

/** Destination → PeerAuthentications of its namespace. */
export const ownPeerAuthentications = join({
  from: destinations,
  key: byOwnNamespace,
  to: inputKind<AttachedSources, PeerAuthentication>(PeerAuthentication),
  index: byPeerAuthenticationPlace,
});

/** PeerAuthentications of a cluster's namespace, by both. */
export function byPeerAuthenticationPlace({ metadata: { namespace = "", clusterName = "" } }: PeerAuthentication): readonly string[] {
  return [placeOf(clusterName, namespace)];
}

/** The root namespace of a mesh, none for one without, as `byPeerAuthenticationPlace` names it. */
export function rootPlaceOf(mesh: Mesh): readonly string[] {
  return [placeOf(meshCluster(mesh), rootNamespaceOf(mesh))];
}

function byOwnNamespace({ spec }: Destination): readonly string[] {
  const { namespace, clusterName } = spec?.kubeService?.ref ?? {};
  return namespace === undefined || clusterName === undefined ? NONE : [placeOf(clusterName, namespace)];
}

function placeOf(clusterName: string, namespace: string): string {
  return `${clusterName}/${namespace}`;
}
