import { type PeerAuthentication, rootNamespaceOf } from "@isthmus/api";
import { keyOfResource, matchesLabels } from "@isthmus/core";
import type { DestinationInputs } from "../inputs.ts";

/**
 * The PeerAuthentication by which the pods of a Destination take plain text alone; undefined where none is known. One for its pods counts before one for
 * their namespace, and that before one of the root namespace; among equals the oldest. What is about some ports alone is not judged.
 * Source: istio.io/docs/reference/config/security/peer_authentication.
 */
export function plainTextAlone({ destination, mesh, peerAuthentications }: DestinationInputs): PeerAuthentication | undefined {
  const { ref, workloadSelectorLabels = {} } = destination.spec?.kubeService ?? {};
  if (ref === undefined || peerAuthentications.length === 0) return undefined;
  const ordered = [...peerAuthentications].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const own = ordered.filter(({ metadata }) => metadata.namespace === ref.namespace);
  const forSome = own.filter((one) => isForSome(one) && mayMatch(one, workloadSelectorLabels));
  // Labels that a Service does not select by may be on some of its pods all the same.
  if (!forSome.every((one) => matchesLabels(one.spec?.selector?.matchLabels, workloadSelectorLabels))) return undefined;
  const levels = [
    forSome,
    own.filter((one) => !isForSome(one)),
    ordered.filter((one) => one.metadata.namespace === rootNamespaceOf(mesh) && !isForSome(one)),
  ];
  const inForce = levels.flatMap(([first]) => first ?? []).find(({ spec }) => (spec?.mtls?.mode ?? "UNSET") !== "UNSET");
  return inForce?.spec?.mtls?.mode === "DISABLE" ? inForce : undefined;
}

function isForSome({ spec }: PeerAuthentication): boolean {
  return Object.keys(spec?.selector?.matchLabels ?? {}).length > 0;
}

function mayMatch({ spec }: PeerAuthentication, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(spec?.selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === undefined || labels[key] === value);
}

function orderOf(one: PeerAuthentication): string {
  return `${one.metadata.creationTimestamp ?? ""} ${keyOfResource(one)}`;
}
