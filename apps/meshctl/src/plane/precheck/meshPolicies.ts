import { AuthorizationPolicy, PeerAuthentication, VirtualService } from "@isthmus/api";
import { type Kind, kindKeyOf, type Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";

/** What users wrote for Istio about identities, as commands read it. */
export interface MeshPolicies {
  readonly peerAuthentications: readonly PeerAuthentication[];
  /** How many there are. */
  readonly requestAuthentications: number;
  readonly authorizationPolicies: readonly AuthorizationPolicy[];
  readonly virtualServices: readonly VirtualService[];
}

function securityKind<R extends Resource>(kind: string, plural: string): Kind<R> {
  return {
    apiVersion: AuthorizationPolicy.apiVersion,
    kind,
    plural,
    namespaced: true,
    versions: AuthorizationPolicy.versions,
    parse: (input) => input as R,
  };
}

const RequestAuthentications = securityKind<Resource>("RequestAuthentication", "requestauthentications");

/** Of kinds that the cluster does not serve there are none. Rejects with ClusterError. */
export async function readMeshPolicies(cluster: Cluster, signal: AbortSignal): Promise<MeshPolicies> {
  const served = new Set((await cluster.servedKinds(signal)).map(kindKeyOf));
  const all = async <R extends Resource>(kind: Kind<R>): Promise<readonly R[]> =>
    served.has(kindKeyOf(kind)) ? (await cluster.list(kind, {}, signal)).items : [];
  return {
    peerAuthentications: await all(PeerAuthentication),
    requestAuthentications: (await all(RequestAuthentications)).length,
    authorizationPolicies: await all(AuthorizationPolicy),
    virtualServices: await all(VirtualService),
  };
}
