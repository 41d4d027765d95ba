import type { AppliedEastWestIngressGateway, Destination, KubeService, Mesh, MeshSpec, VirtualMesh } from "@isthmus/api";
import { type ClusterObjectRef, formatRef, intern, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { memoizeRow } from "../../../incremental/memoizeRow.ts";
import { isMisspeltGatewaySelector } from "../../../policy/ineffective.ts";
import { selectsDestination } from "../../../policy/selectors.ts";
import { virtualMeshDoubts } from "../../../policy/virtualMeshDoubts.ts";
import type { GatewaySelection, GatewaySelectionInputs } from "../../meshTranslator.ts";

/**
 * The gateways through which other meshes reach this one. The first of these that yields one decides: the VirtualMesh's
 * selectors, the gateways that discovery noted on the Mesh, the first service labelled `istio: ingressgateway`, the first
 * labelled `istio: eastwestgateway`.
 * A service that cannot be a gateway is passed over and reported. A Service that the user selected is never replaced by another; where
 * the selectors find none in this mesh, as they may be about others, that is reported too.
 */
export function eastWestGateways(inputs: GatewaySelectionInputs): GatewaySelection {
  const selected = selectedCandidates(inputs);
  // What was meant to be selected, and is not understood, is not replaced by another either.
  const isFixed = selected.length > 0 || virtualMeshDoubts(inputs.virtualMesh).gateways.size > 0;
  const noted = isFixed ? [] : notedCandidates(inputs);
  const candidates = isFixed ? selected : noted.some(isUsable) ? noted : [...noted, ...defaultAmong(inputs.destinations)];
  return {
    gateways: candidates.filter(isUsable).map(({ gateway }) => gateway),
    reports: [...(isFixed ? [] : unselected(inputs)), ...candidates.flatMap((one) => reportsOn(one, inputs))],
  };
}

/** The Services that discovery noted on a mesh as its gateways. */
export function notedGateways({ spec }: Mesh): readonly ClusterObjectRef[] {
  const clusterName = spec?.istio?.installation?.cluster ?? "";
  return (spec?.istio?.ingressGateways ?? []).map(({ name = "", namespace = "" }) => ({ name, namespace, clusterName }));
}

/** What is known of a mesh but for those. */
export function withoutNotedGateways({ istio, ...others }: MeshSpec): MeshSpec {
  const { ingressGateways: _, ...rest } = istio ?? {};
  return istio === undefined ? others : { ...others, istio: rest };
}

type Candidate = Usable | Unusable;
interface Usable {
  readonly destination: Destination;
  readonly gateway: AppliedEastWestIngressGateway;
}
interface Unusable {
  readonly destination: Destination;
  /** What is wrong, and the remedy. */
  readonly problem: string;
}

function isUsable(candidate: Candidate): candidate is Usable {
  return "gateway" in candidate;
}

function selectedCandidates({ virtualMesh, destinations }: GatewaySelectionInputs): readonly Candidate[] {
  const selectors = virtualMesh.spec?.federation?.eastWestIngressGatewaySelectors ?? [];
  // Found again by what they say: another part of the VirtualMesh is no reason to look at every service of its meshes.
  return selectors.length === 0 ? [] : selectedAmong(destinations)(canonical(selectors));
}

type Federation = NonNullable<NonNullable<VirtualMesh["spec"]>["federation"]>;
type GatewaySelectors = NonNullable<Federation["eastWestIngressGatewaySelectors"]>;

const canonical = memoizeRow((selectors: GatewaySelectors) => intern(selectors));

const selectedAmong = memoizeRow((destinations: readonly Destination[]) =>
  memoizeRow((selectors: GatewaySelectors): readonly Candidate[] =>
    destinations.flatMap((destination) => {
      const selector = selectors.find((one) => {
        const { destinationSelectors = [] } = one;
        if (isMisspeltGatewaySelector(one)) return false;
        return destinationSelectors.length === 0 ? isDefaultGateway(destination) : selectsDestination(destinationSelectors, destination);
      });
      return selector === undefined ? [] : [candidate(destination, selector.portName || DEFAULT_PORT_NAME)];
    }),
  ),
);

function notedCandidates({ mesh, serviceIn }: GatewaySelectionInputs): readonly Candidate[] {
  const clusterName = mesh.spec?.istio?.installation?.cluster ?? "";
  return (mesh.spec?.istio?.ingressGateways ?? []).flatMap(
    ({ name = "", namespace = "", externalTlsPort = 0, tlsContainerPort = 0 }): readonly Candidate[] => {
      const destination = serviceIn({ name, namespace, clusterName });
      if (destination === undefined) return [];
      if (externalTlsPort !== 0 && tlsContainerPort !== 0) return [usable(destination, externalTlsPort, tlsContainerPort)];
      return [{ destination, problem: `spec.istio.ingressGateways of the Mesh has no ports for it: ${SELECT_REMEDY}` }];
    },
  );
}

/** By label: that somebody installs one of the second changes nothing where one of the first is usable, and then nobody lacks one of the first. */
const defaultAmong = memoizeRow((destinations: readonly Destination[]): readonly Candidate[] => {
  const byLabel = GATEWAY_LABELS.map((label) =>
    destinations.filter((one) => gatewayLabelOf(one) === label).map((one) => candidate(one, DEFAULT_PORT_NAME)),
  );
  const position = byLabel.findIndex((candidates) => candidates.some(isUsable));
  const candidates = position < 0 ? byLabel.flat() : (byLabel[position] ?? []);
  return candidates.slice(0, candidates.findIndex(isUsable) + 1 || undefined);
});

// What Istio's charts, and its scripts for several networks, label the pods of gateways with.
const GATEWAY_LABELS = ["ingressgateway", "eastwestgateway"] as const;

/** Whether the service's pods are Istio's own gateways, by the label that its charts give them. */
function isDefaultGateway(destination: Destination): boolean {
  return GATEWAY_LABELS.some((label) => label === gatewayLabelOf(destination));
}

function gatewayLabelOf({ spec }: Destination): string | undefined {
  const { ref, workloadSelectorLabels } = spec?.kubeService ?? {};
  return ref === undefined ? undefined : workloadSelectorLabels?.["istio"];
}

function candidate(destination: Destination, portName: string): Candidate {
  const service = destination.spec?.kubeService ?? {};
  if (Object.keys(service.workloadSelectorLabels ?? {}).length === 0) {
    return { destination, problem: `its Service has no selector, so its pods are unknown: ${SELECT_REMEDY}` };
  }
  const { containerPort, destinationPort } = tlsPorts(service, portName);
  if (containerPort !== 0 && destinationPort !== 0) return usable(destination, destinationPort, containerPort);
  const lack = containerPort === 0 ? "it has no such port with a target port" : "its Service is only reachable inside its cluster";
  return {
    destination,
    problem: `it needs a port named ${portName} that is reachable from other clusters, but ${lack}: use a Service of type LoadBalancer or NodePort with that port, or ${SELECT_REMEDY}`,
  };
}

function usable(destination: Destination, destinationPort: number, containerPort: number): Usable {
  const { name, namespace = "" } = destination.metadata;
  const externalAddresses = (destination.spec?.kubeService?.externalAddresses ?? [])
    .map(({ dnsName, ip }) => dnsName || ip || "")
    .filter((address) => address !== "");
  return { destination, gateway: { destinationRef: { name, namespace }, externalAddresses, destinationPort, containerPort } };
}

/** Where pods listen for the port, and where other clusters reach it; 0 for what is unknown. */
function tlsPorts(service: KubeService, portName: string): { containerPort: number; destinationPort: number } {
  const port = service.ports?.findLast(({ name }) => name === portName);
  if (port === undefined) return { containerPort: 0, destinationPort: 0 };
  const endpointPorts = (service.endpointSubsets ?? []).flatMap(({ ports = [] }) => ports);
  // Kubernetes names an endpoint's port after the Service's port; other sources name it after the container's.
  const named = [port.targetPortName, port.name].map((wanted) => endpointPorts.find(({ name }) => name === wanted)).find((found) => found);
  const containerPort = port.targetPortNumber ?? (port.targetPortName === undefined ? undefined : named?.port) ?? 0;
  switch (service.serviceType) {
    case "NODE_PORT":
      return { containerPort, destinationPort: port.nodePort ?? 0 };
    case "LOAD_BALANCER":
      return { containerPort, destinationPort: port.port ?? 0 };
    default:
      return { containerPort, destinationPort: 0 };
  }
}

/** That selectors find no gateway in this mesh. */
function unselected({ virtualMesh, mesh }: GatewaySelectionInputs): readonly Report[] {
  const { meshes = [], federation } = virtualMesh.spec ?? {};
  if (meshes.length < 2 || (federation?.eastWestIngressGatewaySelectors ?? []).length === 0) return [];
  const message = `spec.federation.eastWestIngressGatewaySelectors: selects no Service in ${formatRef(refOf(mesh))}, so its default gateway is used: check the names and labels, or select a Service of that mesh as well, such as its default gateway`;
  return [reportOf(refOf(virtualMesh), warningFinding("GatewayNotSelected", message), refOf(mesh))];
}

function reportsOn(one: Candidate, { virtualMesh, mesh }: GatewaySelectionInputs): readonly Report[] {
  // Alone in its VirtualMesh, a mesh needs no gateway.
  if ((virtualMesh.spec?.meshes ?? []).length < 2) return [];
  const name = formatRef(refOf(one.destination));
  const finding = !isUsable(one)
    ? warningFinding("GatewayUnusable", `${name} cannot be the east-west gateway: ${one.problem}`)
    : (one.gateway.externalAddresses ?? []).length === 0
      ? warningFinding(
          "GatewayUnreachable",
          `${name} is the east-west gateway but has no external address: other clusters cannot reach the mesh until ${lackingOf(one.destination)}`,
        )
      : undefined;
  return finding === undefined ? [] : [reportOf(refOf(virtualMesh), finding, refOf(mesh))];
}

/** What a gateway without an external address waits for. */
function lackingOf({ spec }: Destination): string {
  return spec?.kubeService?.serviceType === "NODE_PORT"
    ? "its nodes have an ExternalIP or ExternalDNS, or its Service names one in spec.externalIPs"
    : "its load balancer has one";
}

const DEFAULT_PORT_NAME = "tls";
const SELECT_REMEDY = "select another in spec.federation.eastWestIngressGatewaySelectors";
