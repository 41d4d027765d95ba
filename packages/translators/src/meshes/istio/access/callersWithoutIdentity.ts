import type { AccessPolicy, AuthorizationRule } from "@isthmus/api";
import { formatRef, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { connectionPolicyFrom } from "../destinationRules.ts";
import { MUTUAL } from "../features/mtls.ts";
import { localSource } from "../source.ts";

/** An AccessPolicy and what is written of it. */
interface Enforced {
  readonly policy: AccessPolicy;
  readonly result: { readonly rule: AuthorizationRule };
}

/**
 * Warns of AccessPolicies that name callers, where a TLS mode that somebody wrote takes the identities of those in its own cluster away: none of them is
 * let in. PeerAuthentications that do so are reported by `usersAccess`. Calls from other meshes don't arrive at all with such a mode, which `reachabilityFindings` says.
 */
export function callersWithoutIdentity(inputs: DestinationInputs, enforced: readonly Enforced[]): readonly Report[] {
  const naming = enforced.filter(({ result }) => result.rule.from !== undefined);
  if (naming.length === 0) return [];
  const { destination } = inputs;
  const mode = connectionPolicyFrom(inputs, localSource(destination)).tls?.mode;
  const isAuto = inputs.mesh.spec?.istio?.autoMtlsDisabled !== true;
  if (mode === MUTUAL || (mode === undefined && isAuto)) return [];
  const reason =
    mode === undefined ? "nothing says a TLS mode and enableAutoMtls of their mesh configuration is false" : `their TLS mode is ${mode}`;
  const finding = warningFinding(
    "CallersWithoutIdentity",
    `${formatRef(refOf(destination))}: callers in its cluster have no identity, because ${reason}, so this policy lets none of them in: ${mode === undefined ? "set mtls.istio.tlsMode: ISTIO_MUTUAL in the Settings" : "set mtls.istio.tlsMode: ISTIO_MUTUAL, or remove it, in the Settings or the TrafficPolicy that sets it"}`,
  );
  return naming.map(({ policy }) => reportOf(refOf(policy), finding, refOf(destination)));
}
