import type { AccessPolicy, AuthorizationRule } from "@isthmus/api";
import { formatRef, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../findings.ts";
import type { DestinationInputs } from "../inputs.ts";
import { connectionPolicyFrom } from "./destinationRules.ts";
import { MUTUAL } from "./features/mtls.ts";
import { sourcesOf } from "./source.ts";

/** An AccessPolicy and what is written of it. */
interface Enforced {
  readonly policy: AccessPolicy;
  readonly result: { readonly rule: AuthorizationRule };
}

/** Warns of AccessPolicies that name callers, where a TLS mode that somebody wrote takes the identities of all callers away: nobody is let in. */
export function callersWithoutIdentity(inputs: DestinationInputs, enforced: readonly Enforced[]): readonly Report[] {
  const { destination, trafficPolicies, translationContext } = inputs;
  const isModeWritten =
    translationContext.settings?.spec?.mtls?.istio?.tlsMode !== undefined ||
    trafficPolicies.some(({ spec }) => spec?.policy?.mtls !== undefined);
  const naming = isModeWritten ? enforced.filter(({ result }) => result.rule.from !== undefined) : [];
  if (naming.length === 0) return [];
  const modes = sourcesOf(inputs).flatMap((source) => {
    const mode = connectionPolicyFrom(inputs, source).tls?.mode;
    return mode === undefined || mode === MUTUAL ? [] : [{ clusterName: source.clusterName, mode }];
  });
  if (modes.length === 0) return [];
  const clusters = [...new Set(modes.map(({ clusterName }) => clusterName))].join(", ");
  const words = [...new Set(modes.map(({ mode }) => mode))].join(" or ");
  const finding = warningFinding(
    "CallersWithoutIdentity",
    `${formatRef(refOf(destination))}: callers in ${clusters} have no identity, because their TLS mode is ${words}, so this policy lets none of them in: set mtls.istio.tlsMode: ISTIO_MUTUAL, or remove it, in the Settings or the TrafficPolicy that sets it`,
  );
  return naming.map(({ policy }) => reportOf(refOf(policy), finding, refOf(destination)));
}
