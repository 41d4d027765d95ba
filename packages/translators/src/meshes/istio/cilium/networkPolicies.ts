import {
  type AccessPolicy,
  type AuthorizationRule,
  type CiliumIngressRule,
  CiliumNetworkPolicy,
  type CiliumPortRule,
  type SettingsSpec,
} from "@isthmus/api";
import { keyOf, refOf } from "@isthmus/core";
import { type Finding, reportOf } from "../../../findings.ts";
import { isUnderstoodCaller } from "../../../policy/ineffective.ts";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../../inputs.ts";
import { type OutputOrigin, outputOf } from "../../outputMetadata.ts";
import { auditFindings } from "./audit.ts";
import { type CallerPlaces, callerPeers, gatewayPeers, gatewaysOnNodes, OTHER_NODES, podsOfAccount } from "./callers.ts";
import { isReachedThroughGateways } from "./gatewayRoutes.ts";
import { doubtsAbout, reasonsAgainst } from "./open.ts";

/** What of an AccessPolicy is in force on a Destination: the form of it, and what the mesh makes of that. */
export interface AccessInForce {
  readonly policy: AccessPolicy;
  readonly form: AccessPolicy;
  readonly rule: AuthorizationRule;
}

/**
 * Lets the callers of the AccessPolicies in force on a Destination through at the network layer, and with that no others. It refuses nothing
 * that the mesh allows: what labels and ports cannot say is let through, and left to the mesh. An audit writes nothing, and says what would be.
 */
export function ciliumNetworkPolicyFor(
  inputs: DestinationInputs,
  access: readonly AccessInForce[],
  origin: OutputOrigin,
): TargetTranslation {
  const { destination, mesh, translationContext } = inputs;
  const { accessPolicies = "DISABLED", allowFrom = [] } = translationContext.settings?.spec?.cilium ?? {};
  const { kubeService } = destination.spec ?? {};
  const cilium = mesh.spec?.cilium;
  if (accessPolicies === "DISABLED" || cilium === undefined || kubeService?.ref === undefined || access.length === 0)
    return emptyTranslation;
  const { name, namespace, clusterName } = kubeService.ref;
  const places: CallerPlaces = {
    mesh,
    cilium,
    callingMeshes: inputs.callingMeshes,
    joined:
      inputs.joinedBy === undefined
        ? undefined
        : new Set((inputs.joinedBy.spec?.meshes ?? []).map((ref) => keyOf({ name: "", namespace: "", ...ref, clusterName: "" }))),
    gateways: isReachedThroughGateways(inputs) ? gatewayPeers(inputs, cilium) : [],
    gatewaysOnNodes: gatewaysOnNodes(inputs),
  };
  const allowed = allowFrom.filter(isUnderstoodCaller).map((one) => ruleOfAllowed(one, places));
  const rules = withoutDoubles([...access.flatMap((one) => rulesOf(one, places)), ...allowed]);
  const reasons = reasonsAgainst(inputs, { access, rules });
  if (reasons.length > 0) return { outputs: [], reports: toldTo(access, reasons, inputs) };
  const findings = doubtsAbout(inputs, access);
  const written = `accesspolicy-${name}`;
  if (accessPolicies === "AUDIT") {
    return { outputs: [], reports: toldTo(access, [...auditFindings(inputs, { name: written, rules, allowed }), ...findings], inputs) };
  }
  const spec = {
    endpointSelector: { matchLabels: withSource(kubeService.workloadSelectorLabels ?? {}) },
    // A rule without members denies all callers; without any rule Cilium does not take the policy.
    ingress: rules.length === 0 ? [{}] : rules,
  };
  const output = outputOf({ name: written, namespace, clusterName, origin }, CiliumNetworkPolicy, spec);
  return { outputs: [output], reports: toldTo(access, findings, inputs) };
}

/** None where none of its callers can reach this cluster. Cilium takes no rule with two kinds of peers. */
function rulesOf({ form, rule }: AccessInForce, places: CallerPlaces): readonly CiliumIngressRule[] {
  const toPorts = portRules((rule.to ?? []).flatMap(({ operation }) => operation?.ports ?? []));
  // The mesh lets everybody in, also callers without an identity.
  if (rule.from === undefined) return [{ fromEntities: ["all"], ...toPorts }];
  const peers = (form.spec?.sourceSelector ?? []).flatMap((selector) => callerPeers(selector, places));
  const fromEndpoints = withoutDoubles(peers.filter((peer) => peer !== OTHER_NODES));
  return [
    ...(fromEndpoints.length === 0 ? [] : [{ fromEndpoints, ...toPorts }]),
    ...(peers.includes(OTHER_NODES) ? [{ fromEntities: [OTHER_NODES], ...toPorts }] : []),
  ];
}

type AllowedCaller = NonNullable<NonNullable<NonNullable<SettingsSpec>["cilium"]>["allowFrom"]>[number];

function ruleOfAllowed({ namespace, serviceAccount = "", ports = [] }: AllowedCaller, { cilium }: CallerPlaces): CiliumIngressRule {
  return { fromEndpoints: [podsOfAccount(namespace, serviceAccount, cilium)], ...portRules(ports.map(String)) };
}

/** More are refused by Cilium's CRD. */
const MOST_PORTS = 40;

function portRules(ports: readonly string[]): { readonly toPorts?: readonly CiliumPortRule[] } {
  const all = [...new Set(ports)].map((port) => ({ port, protocol: "TCP" }));
  if (all.length === 0) return {};
  return {
    toPorts: Array.from({ length: Math.ceil(all.length / MOST_PORTS) }, (_, i) => ({
      ports: all.slice(i * MOST_PORTS, (i + 1) * MOST_PORTS),
    })),
  };
}

function withSource(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [`k8s:${key}`, value]));
}

function withoutDoubles<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function toldTo(access: readonly AccessInForce[], findings: readonly Finding[], { destination }: DestinationInputs) {
  return access.flatMap(({ policy }) => findings.map((finding) => reportOf(refOf(policy), finding, refOf(destination))));
}
