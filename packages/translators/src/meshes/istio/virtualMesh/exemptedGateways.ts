import { type AuthorizationPolicy, type Destination, type IngressGateway, rootNamespaceOf, type Workload } from "@isthmus/api";
import { equalJson, keyOfResource, matchesLabels } from "@isthmus/core";
import { memoizeRow } from "../../../incremental/memoizeRow.ts";
import type { IngressGatewayRef, MeshInputs } from "../../inputs.ts";
import { isSelectedByPlace } from "./gatewayTrust.ts";

type Labels = Readonly<Record<string, string>>;

/** A gateway that may be called from outside while access is closed. */
export interface ExemptedGateway {
  /** What the name of its policy follows from; "" where it has neither an address nor a name. */
  readonly address: string;
  /** Where its pods are. */
  readonly namespace: string;
  /** By which they are selected. */
  readonly labels: Labels;
  /** The only port that is opened; undefined: all. */
  readonly port: number | undefined;
}

/** A gateway that closed access closes, and why it is not exempted. */
export interface ClosedGateway {
  readonly service: Destination;
  /** Behind it, each behind one alone. */
  readonly workloads: readonly Workload[];
  readonly reason: string;
}

/** What closed access means for the gateways of a mesh. */
export interface GatewayExemptions {
  readonly exempted: readonly ExemptedGateway[];
  readonly closed: readonly ClosedGateway[];
  /** Workloads behind those that are exempted as a whole. */
  readonly open: ReadonlySet<Workload>;
}

/**
 * Namespaces in which gateways are the business of those who run the mesh, beside the root namespace and that of the control plane: where
 * the guides of Istio and Gloo Mesh install them. Labels of pods say nothing here: a tenant writes them as well.
 */
const GATEWAY_NAMESPACES: ReadonlySet<string> = new Set(["istio-ingress", "istio-gateway", "istio-gateways", "gloo-mesh-gateways"]);

/** Whether no tenant of the mesh runs pods in a namespace. */
export function isOfInfrastructure({ mesh }: Pick<MeshInputs, "mesh">, namespace: string): boolean {
  return (
    namespace === rootNamespaceOf(mesh) || namespace === mesh.spec?.istio?.installation?.namespace || GATEWAY_NAMESPACES.has(namespace)
  );
}

/**
 * Which gateways closed access leaves open: those that discovery noted, those in use, and all others in namespaces of infrastructure that are
 * reached from outside. Where somebody says already who may call a gateway, closed access changes nothing, and an exemption would let in more:
 * only the traffic of other clusters, which the VirtualMesh asks for, gets one there.
 */
export function gatewayExemptions(inputs: MeshInputs): GatewayExemptions {
  const exempted: ExemptedGateway[] = [];
  const open = new Set<Workload>();
  const exempt = (gateway: ExemptedGateway) => {
    exempted.push(gateway);
    if (gateway.port === undefined) for (const workload of workloadsBehind(gateway, inputs)) open.add(workload);
  };
  for (const { isVouchedFor, meshPort, ...gateway } of knownGateways(inputs)) {
    if (isVouchedFor && !isSaidByUsers(gateway, inputs)) exempt({ ...gateway, port: undefined });
    else if (meshPort !== undefined) exempt({ ...gateway, port: meshPort });
  }
  const others = inputs.gatewayServices.flatMap((service): readonly OtherGateway[] => {
    const { ref, workloadSelectorLabels: labels = {} } = service.spec?.kubeService ?? {};
    if (ref === undefined) return [];
    const gateway = { address: ref.name, namespace: ref.namespace, labels };
    const behind = workloadsBehind(gateway, inputs);
    return [{ service, gateway, behind }];
  });
  const isSettled = (workload: Workload) => open.has(workload) || isSaid(workload, inputs);
  const unsettled = others.filter(({ behind }) => !behind.every(isSettled));
  const reasons = unsettled.map((one) => ({ ...one, reason: reasonAgainst(one, inputs) }));
  for (const { gateway, reason } of reasons) if (reason === undefined) exempt({ ...gateway, port: undefined });
  const told = new Set<Workload>();
  const closed = reasons.flatMap(({ service, behind, reason }) => {
    const left = behind.filter((workload) => isGateway(workload) && !isSettled(workload) && !told.has(workload));
    for (const workload of left) told.add(workload);
    return reason === undefined || left.length === 0 ? [] : [{ service, workloads: left, reason }];
  });
  return { exempted, closed, open };
}

interface KnownGateway extends Omit<ExemptedGateway, "port"> {
  /** Whether those who run the mesh have named it, or where it is. */
  readonly isVouchedFor: boolean;
  /** On which its pods get the traffic of other clusters; undefined where there is none. */
  readonly meshPort: number | undefined;
}

/** Those that discovery noted in the namespace of the control plane, and those in use. */
function knownGateways(inputs: MeshInputs): readonly KnownGateway[] {
  const { mesh, gateways, virtualMesh } = inputs;
  const noted = mesh.spec?.istio?.ingressGateways ?? [];
  const hasOthers = (virtualMesh?.spec?.meshes ?? []).length > 1;
  const portOf = (gateway: IngressGatewayRef | undefined) => (hasOthers ? gateway?.containerPort : undefined);
  const ofNoted = noted.map((one): KnownGateway => {
    const { dnsName, ip, name, namespace, externalAddress, workloadLabels: labels = {} } = one;
    return {
      address: dnsName || ip || name || externalAddress || "",
      namespace: namespace || (mesh.spec?.istio?.installation?.namespace ?? ""),
      labels,
      isVouchedFor: true,
      meshPort: portOf(gateways.find((gateway) => isSame(one, gateway))),
    };
  });
  const others = gateways.filter((gateway) => !noted.some((one) => isSame(one, gateway)));
  const inUse = others.map((gateway): KnownGateway => {
    const { destination, externalAddresses } = gateway;
    const { ref, workloadSelectorLabels: labels = {} } = destination.spec?.kubeService ?? {};
    const namespace = ref?.namespace ?? "";
    return {
      address: externalAddresses[0] ?? destination.metadata.name,
      namespace,
      labels,
      isVouchedFor: isOfInfrastructure(inputs, namespace) || isSelectedByPlace(inputs, destination),
      meshPort: portOf(gateway),
    };
  });
  return [...ofNoted, ...inUse];
}

function isSame(noted: IngressGateway, { destination }: IngressGatewayRef): boolean {
  const { ref, workloadSelectorLabels } = destination.spec?.kubeService ?? {};
  // Labels are of pods in one namespace.
  if (noted.namespace !== undefined && noted.namespace !== ref?.namespace) return false;
  return noted.name === ref?.name || equalJson(noted.workloadLabels ?? {}, workloadSelectorLabels ?? {});
}

interface OtherGateway {
  readonly service: Destination;
  readonly gateway: Omit<ExemptedGateway, "port">;
  /** Workloads whose pods its Service selects. */
  readonly behind: readonly Workload[];
}

/** Why a gateway that is not known otherwise is not exempted; undefined: it is. */
function reasonAgainst({ service, gateway, behind }: OtherGateway, inputs: MeshInputs): string | undefined {
  const { namespace, labels } = gateway;
  if (!isOfInfrastructure(inputs, namespace)) return `namespace ${namespace} is not one of infrastructure`;
  if (!behind.every(isGateway)) return "its Service selects pods that are no gateway, too";
  if (behind.some((workload) => isSaid(workload, inputs)))
    return "an AuthorizationPolicy or AccessPolicy says of a part of its pods who may call them";
  const { serviceType, externalAddresses = [] } = service.spec?.kubeService ?? {};
  const isOutbound = behind.some(({ spec }) => spec?.kubernetes?.podLabels?.["istio"] === "egressgateway");
  if (isOutbound) return "it is for calls that leave the mesh, whose callers have an identity";
  const isReached =
    serviceType === "LOAD_BALANCER" ||
    serviceType === "NODE_PORT" ||
    externalAddresses.length > 0 ||
    labels["istio"] === "ingressgateway" ||
    behind.some(({ spec }) => spec?.kubernetes?.hostNetwork === true);
  return isReached ? undefined : "its Service is not reached from outside of the cluster, so its callers may have an identity";
}

function isGateway({ spec }: Workload): boolean {
  return spec?.kubernetes?.gateway === true;
}

/** The Workloads of the mesh that have all labels, in the namespace. */
function workloadsBehind(
  { namespace, labels }: Pick<ExemptedGateway, "namespace" | "labels">,
  { workloads }: MeshInputs,
): readonly Workload[] {
  if (Object.keys(labels).length === 0) return [];
  return (byNamespace(workloads).get(namespace) ?? []).filter(({ spec }) => matchesLabels(labels, spec?.kubernetes?.podLabels));
}

// Asked for each gateway.
const byNamespace = memoizeRow((workloads: readonly Workload[]): ReadonlyMap<string, readonly Workload[]> => {
  const places = new Map<string, Workload[]>();
  for (const workload of workloads) {
    const { namespace = "" } = workload.spec?.kubernetes?.controller ?? {};
    const there = places.get(namespace);
    if (there === undefined) places.set(namespace, [workload]);
    else there.push(workload);
  }
  return places;
});

/** Whether an AuthorizationPolicy of a user, or an AccessPolicy, says who may call the pods of a Workload. */
function isSaid(workload: Workload, inputs: MeshInputs): boolean {
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  const namespace = controller?.namespace ?? "";
  if (allows(inputs, { namespace, labels: podLabels })) return true;
  const guarded = new Set(inputs.guardedServices);
  return inputs.gatewayServices.some((service) => {
    const { ref, workloadSelectorLabels: labels = {} } = service.spec?.kubeService ?? {};
    return guarded.has(keyOfResource(service)) && ref?.namespace === namespace && matchesLabels(labels, podLabels);
  });
}

/** Whether an AuthorizationPolicy of a user says who may call any of the pods of a gateway; where none is known, its selector stands for them. */
function isSaidByUsers(gateway: Pick<ExemptedGateway, "namespace" | "labels">, inputs: MeshInputs): boolean {
  const { namespace, labels } = gateway;
  const behind = workloadsBehind(gateway, inputs).map(({ spec }) => spec?.kubernetes?.podLabels ?? {});
  return (behind.length === 0 ? [labels] : behind).some((ofPods) => allows(inputs, { namespace, labels: ofPods }));
}

/** Without a policy that allows, everybody may call; with one, nobody else. Source: istio.io/docs/concepts/security, Implicit enablement. */
function allows({ mesh, userAccess }: MeshInputs, pods: { readonly namespace: string; readonly labels: Labels }): boolean {
  const root = rootNamespaceOf(mesh);
  return userAccess.some((resource) => {
    const { metadata, spec } = resource as AuthorizationPolicy;
    const { targetRef, targetRefs } = (spec ?? {}) as { readonly targetRef?: unknown; readonly targetRefs?: unknown };
    if ((spec?.action ?? "ALLOW") !== "ALLOW" || targetRef !== undefined || targetRefs !== undefined) return false;
    const isThere = metadata.namespace === pods.namespace || metadata.namespace === root;
    return isThere && matchesLabels(spec?.selector?.matchLabels ?? {}, pods.labels);
  });
}
