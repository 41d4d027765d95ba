import { formatRef, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { isAccessClosed } from "../../../policy/virtualMeshDoubts.ts";
import type { DestinationInputs, FailoverPeer } from "../../inputs.ts";

/**
 * Of the services that a guarded one fails over to, those that no AccessPolicy selects: there everybody gets in who is refused here. None where the
 * VirtualMesh closes access. Which of two sets of AccessPolicies lets in more is not compared: one policy there is enough.
 */
export function unguardedPeers({ accessPolicies, heldAccess, failoverPeers, virtualMesh }: DestinationInputs): readonly FailoverPeer[] {
  const isGuarded = accessPolicies.length + heldAccess.length > 0;
  if (!isGuarded || virtualMesh === undefined || isAccessClosed(virtualMesh)) return [];
  return failoverPeers.filter((peer) => !peer.isGuarded);
}

/** Whether the Settings leave out what would be let in elsewhere. */
export function failsOverToGuardedOnly({ translationContext: { settings } }: Pick<DestinationInputs, "translationContext">): boolean {
  return settings?.spec?.failover?.targets === "GUARDED_ONLY";
}

/** That requests pass the AccessPolicies of a service while it fails over: to the authors of these. `unguarded` is what it really fails over to. */
export function unguardedReports(
  { destination, accessPolicies }: DestinationInputs,
  unguarded: readonly FailoverPeer[],
): readonly Report[] {
  if (unguarded.length === 0) return [];
  const targets = unguarded.map((peer) => formatRef(refOf(peer.destination))).join(", ");
  const message = `${formatRef(refOf(destination))} fails over to ${targets}, which no AccessPolicy selects, so that everybody may call it there: select it too, or set failover.targets: GUARDED_ONLY in the Settings`;
  return accessPolicies.map((policy) => reportOf(refOf(policy), warningFinding("FailoverUnguarded", message), refOf(destination)));
}
