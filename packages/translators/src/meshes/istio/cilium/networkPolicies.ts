import {
  type AccessPolicy,
  type AuthorizationRule,
  type CiliumIngressRule,
  CiliumNetworkPolicy,
  type CiliumPortRule,
  type SettingsSpec,
} from "@isthmus/api";
import { formatRef, keyOf, keyOfResource, refOf } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../../findings.ts";
import { isUnderstoodCaller } from "../../../policy/ineffective.ts";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../../inputs.ts";
import { type OutputOrigin, outputOf } from "../../outputMetadata.ts";
import { type CallerPlaces, callerEndpoints, gatewayPodSelectors, podsOfAccount } from "./callers.ts";
import { labelsWithoutIdentity } from "./identityLabels.ts";

/** What of an AccessPolicy is in force on a Destination: the form of it, and what the mesh makes of that. */
export interface AccessInForce {
  readonly policy: AccessPolicy;
  readonly form: AccessPolicy;
  readonly rule: AuthorizationRule;
}

/**
 * Lets the callers of the AccessPolicies in force on a Destination through at the network layer, and with that no others. It refuses nothing
 * that the mesh allows: what labels and ports cannot say is let through, and left to the mesh.
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
  if (accessPolicies !== "ENABLED" || cilium === undefined || kubeService?.ref === undefined || access.length === 0)
    return emptyTranslation;
  const reasons = reasonsAgainst(inputs);
  if (reasons.length > 0) return { outputs: [], reports: toldTo(access, reasons, inputs) };
  const { name, namespace, clusterName } = kubeService.ref;
  const places: CallerPlaces = {
    here: clusterName,
    mesh,
    cilium,
    callingMeshes: inputs.callingMeshes,
    joined:
      inputs.joinedBy === undefined
        ? undefined
        : new Set((inputs.joinedBy.spec?.meshes ?? []).map((ref) => keyOf({ name: "", namespace: "", ...ref, clusterName: "" }))),
    gateways: gatewayPodSelectors(inputs, cilium),
  };
  const ingress = [
    ...access.flatMap((one) => ruleOf(one, places) ?? []),
    ...allowFrom.filter(isUnderstoodCaller).map((one) => ruleOfAllowed(one, places)),
  ];
  const spec = {
    endpointSelector: { matchLabels: withSource(kubeService.workloadSelectorLabels ?? {}) },
    // A rule without members lets nobody in; without any rule Cilium does not take the policy.
    ingress: ingress.length === 0 ? [{}] : withoutDoubles(ingress),
  };
  const output = outputOf({ name: `accesspolicy-${name}`, namespace, clusterName, origin }, CiliumNetworkPolicy, spec);
  return { outputs: [output], reports: toldTo(access, cilium.enforcement === "never" ? [neverEnforced(inputs)] : [], inputs) };
}

/** Undefined where none of its callers can reach this cluster. */
function ruleOf({ form, rule }: AccessInForce, places: CallerPlaces): CiliumIngressRule | undefined {
  const toPorts = portRules((rule.to ?? []).flatMap(({ operation }) => operation?.ports ?? []));
  // The mesh lets everybody in, also callers without an identity.
  if (rule.from === undefined) return { fromEntities: ["all"], ...toPorts };
  const fromEndpoints = withoutDoubles((form.spec?.sourceSelector ?? []).flatMap((selector) => callerEndpoints(selector, places)));
  return fromEndpoints.length === 0 ? undefined : { fromEndpoints, ...toPorts };
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

/** Why a Destination gets no policy: it would cut more than was asked, or nothing. */
function reasonsAgainst({ destination, mesh, ownGateways, translationContext }: DestinationInputs): readonly Finding[] {
  const { ref, workloadSelectorLabels = {} } = destination.spec?.kubeService ?? {};
  const labels = labelsWithoutIdentity(workloadSelectorLabels);
  const namespace = ref?.namespace ?? "";
  const isReserved = ["kube-system", mesh.spec?.istio?.installation?.namespace, translationContext.namespace].includes(namespace);
  const isGateway = ownGateways.some((gateway) => keyOfResource(gateway.destination) === keyOfResource(destination));
  const notedAs = mesh.spec?.istio?.ingressGateways?.some((gateway) => gateway.name === ref?.name && gateway.namespace === namespace);
  const name = formatRef(refOf(destination));
  if (isGateway || notedAs === true) return [open(name, "it is a gateway, whose callers come from outside of the cluster", NARROW)];
  if (isReserved) return [open(name, `namespace ${namespace} has callers without an identity in Cilium`, NARROW)];
  if (mesh.spec?.cilium?.identityLabels !== undefined) {
    const remedy = "remove labels from ConfigMap cilium-config to use its defaults, or rely on the mesh";
    return [open(name, "Cilium is configured to leave out labels of pods, so that the policy might select none", remedy)];
  }
  if (labels.length > 0) {
    const which = `label ${labels.join(", ")} of its selector is not part of identities in Cilium, so that the policy would select no pod`;
    return [open(name, which, "select the pods of the Service by other labels, such as app")];
  }
  return [];
}

const NARROW = "narrow the destinationSelector, or rely on the mesh";

function open(name: string, reason: string, remedy: string): Finding {
  return warningFinding(
    "NetworkLayerOpen",
    `${name} has no CiliumNetworkPolicy, because ${reason}; only the mesh enforces this policy: ${remedy}`,
  );
}

function neverEnforced({ destination }: DestinationInputs): Finding {
  const message = `the CiliumNetworkPolicy for ${formatRef(refOf(destination))} has no effect, because enable-policy is never in ConfigMap cilium-config; only the mesh enforces this policy: set enable-policy to default`;
  return warningFinding("NetworkLayerOpen", message);
}

function toldTo(access: readonly AccessInForce[], findings: readonly Finding[], { destination }: DestinationInputs) {
  return access.flatMap(({ policy }) => findings.map((finding) => reportOf(refOf(policy), finding, refOf(destination))));
}
