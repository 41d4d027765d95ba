import type { AppliedEastWestIngressGateway, Destination, KubeService, Mesh, MeshSpec, VirtualMesh } from "@isthmus/api";
import { type ClusterObjectRef, formatRef, intern, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { memoizeRow } from "../../../incremental/memoizeRow.ts";
import { isMisspeltGatewaySelector } from "../../../policy/ineffective.ts";
import { selectsDestination } from "../../../policy/selectors.ts";
import { virtualMeshDoubts } from "../../../policy/virtualMeshDoubts.ts";
import type { GatewaySelection, GatewaySelectionInputs } from "../../meshTranslator.ts";
import { type GatewayTrust, gatewayTrustOf, untrustedGateway } from "./gatewayTrust.ts";

/**
 * The gateways through which other meshes reach this one. The first of these that yields one decides: the VirtualMesh's
 * selectors, the gateways that discovery noted on the Mesh, the first service labelled `istio: ingressgateway`, the first
 * labelled `istio: eastwestgateway`.
 * A service that cannot be a gateway is passed over and reported. A Service that the user selected is never replaced by another; where
 * the selectors find none in this mesh, as they may be about others, that is reported too. What any tenant of the cluster could have made is
 * not selected: that is said where there is no gateway without it.
 */
export function eastWestGateways(inputs: GatewaySelectionInputs): GatewaySelection {
  const [selected, refused] = believed(selectedCandidates(inputs), inputs);
  // What was meant to be selected, and is not understood, is not replaced by another either.
  const isFixed = selected.length > 0 || virtualMeshDoubts(inputs.virtualMesh).gateways.size > 0;
  const noted = isFixed ? [] : notedCandidates(inputs);
  const hasNoted = noted.some(isUsable);
  const [defaults, strangers] = isFixed || hasNoted ? [NONE, NONE] : believed(defaultsAmong(inputs.destinations), inputs);
  const candidates = isFixed ? selected : hasNoted ? noted : [...noted, ...firstUsable(defaults)];
  const gateways = candidates.filter(isUsable);
  // What the selectors meant is said where they give nothing else, although another gateway stands in: beside one that they give, a tenant's is passed over without a word.
  const unheard = [...(selected.length > 0 ? NONE : refused), ...(gateways.length > 0 ? NONE : strangers)];
  const missed = [...new Set(unheard.map(({ destination }) => destination))];
  return {
    gateways: gateways.map(({ gateway }) => gateway),
    reports: [
      ...(isFixed ? [] : unselected(inputs)),
      ...candidates.flatMap((one) => reportsOn(one, inputs)),
      ...[...gateways.map(({ destination }) => destination), ...missed].flatMap((one) => trustReports(one, inputs)),
    ],
  };
}

const NONE: readonly never[] = [];

/** Those that count, the trusted ones first; and those that anybody could have made. */
function believed(candidates: readonly Candidate[], inputs: GatewaySelectionInputs): readonly [readonly Candidate[], readonly Candidate[]] {
  const ranked = candidates.map((one) => ({ one, trust: gatewayTrustOf(one.destination, inputs) }));
  const of = (wanted: GatewayTrust) => ranked.flatMap(({ one, trust }) => (trust === wanted ? [one] : []));
  return [[...of("trusted"), ...of("kept"), ...of("taken")], of("refused")];
}

function trustReports(destination: Destination, inputs: GatewaySelectionInputs): readonly Report[] {
  // Alone in its VirtualMesh, a mesh needs no gateway.
  if ((inputs.virtualMesh.spec?.meshes ?? []).length < 2) return NONE;
  const report = untrustedGateway(destination, gatewayTrustOf(destination, inputs), inputs);
  return report === undefined ? NONE : [report];
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

const defaultsAmong = memoizeRow((destinations: readonly Destination[]): readonly Candidate[] =>
  destinations.filter(isDefaultGateway).map((destination) => candidate(destination, DEFAULT_PORT_NAME)),
);

/** By label: that somebody installs one of the second changes nothing where one of the first is usable, and then nobody lacks one of the first. */
function firstUsable(candidates: readonly Candidate[]): readonly Candidate[] {
  const byLabel = GATEWAY_LABELS.map((label) => candidates.filter(({ destination }) => gatewayLabelOf(destination) === label));
  const among = byLabel.find((those) => those.some(isUsable)) ?? byLabel.flat();
  const position = among.findIndex(isUsable);
  return position < 0 ? among : among.slice(0, position + 1);
}

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
