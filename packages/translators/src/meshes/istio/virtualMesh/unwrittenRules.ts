import type { DestinationRule } from "@isthmus/api";
import { formatRef, keyOf, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import { policyScopeFrom } from "../../../policy/policyScope.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { usersRulesInForce } from "../access/usersRules.ts";
import { passesGateways } from "../features/mtls.ts";
import { objectNameFor, remoteSource } from "../source.ts";
import { userConflict } from "../userObjects.ts";
import type { FederatedService } from "./federatedService.ts";

/**
 * Meshes in which a DestinationRule of a user stands for the federated host, so that ours is not there: what the VirtualMesh and policies say of
 * connections does not hold. `rules` are those that are written in the callers' meshes.
 */
export function unwrittenRuleFindings(
  inputs: DestinationInputs,
  { virtualMesh, remotes, hostname }: FederatedService,
  rules: readonly DestinationRule[],
): readonly Finding[] {
  if (inputs.userObjects.length === 0) return NONE;
  const { destination, translationContext } = inputs;
  const written = new Set(rules.map(({ metadata: { namespace = "", clusterName = "" } }) => keyOf({ name: "", namespace, clusterName })));
  const own = policyScopeFrom(translationContext).limitOfVirtualMesh(virtualMesh);
  return remotes.flatMap((mesh) => {
    const source = remoteSource(mesh);
    const { clusterName } = source;
    if (written.has(keyOf({ ...objectNameFor(destination, source), name: "" }))) return [];
    const [inForce] = usersRulesInForce(inputs, source);
    const found = inForce ?? userConflict(inputs, { kind: "DestinationRule", source });
    if (found === undefined) return [];
    const isNamed = own === undefined || own === clusterName;
    const what = `${formatRef(refOf(destination))}: host ${hostname} is also configured by ${isNamed ? formatRef(refOf(found)) : "a DestinationRule in another cluster"}, so no DestinationRule is written there`;
    const { tls } = inForce?.spec?.trafficPolicy ?? {};
    const consequence =
      tls === undefined || passesGateways({ tls })
        ? "spec.federation.tcpKeepalive, and what policies say of connections, do not hold for calls from there"
        : `calls from there fail, because their TLS mode is ${tls.mode} and east-west gateways only forward ISTIO_MUTUAL`;
    return [
      warningFinding(
        "UserConfigConflict",
        `${what}, and ${consequence}: remove that object, or let it be for all callers (exportTo, workloadSelector)`,
      ),
    ];
  });
}

const NONE: readonly never[] = [];
