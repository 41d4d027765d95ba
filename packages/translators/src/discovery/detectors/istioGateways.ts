import type { ExternalAddress, IngressGateway, KubernetesServicePort, Node, Service, SettingsSpec } from "@isthmus/api";
import { matchesLabels, type Report, refOf } from "@isthmus/core";
import { namespaceLocationOf } from "../../policy/podIndexes.ts";
import { finding } from "../findings.ts";
import { reachableAddress } from "../nodes.ts";
import { withoutZeroValues } from "../zeroValues.ts";
import type { ControlPlaneInputs } from "./controlPlane.ts";

/** How the gateways of a cluster are reported. */
export interface GatewayDetector {
  /** Labels that their Services select by: all of one of these. */
  readonly labels: readonly Labels[];
  /** Name of the port that takes traffic of other clusters. */
  readonly portName: string;
}

type Labels = Readonly<Record<string, string>>;

const ALL_CLUSTERS = "*";
// As Istio's charts and its own scripts for several networks label them. Source: istio.io/istio, samples/multicluster/gen-eastwest-gateway.sh.
const FOR_CLUSTERS = { istio: "eastwestgateway" };
const DEFAULT_LABELS: readonly Labels[] = [{ istio: "ingressgateway" }, FOR_CLUSTERS];
const DEFAULT_PORT = "tls";

type DiscoverySettings = NonNullable<SettingsSpec>["discovery"];

/** The detector that the Settings name for a cluster: labels and port, each from the cluster's entry, else from that of `*`. */
export function gatewayDetector(discovery: DiscoverySettings, clusterName: string): GatewayDetector {
  const detectors = discovery?.istio?.ingressGatewayDetectors ?? {};
  const entries = [detectors[clusterName] ?? {}, detectors[ALL_CLUSTERS] ?? {}];
  const labels = entries.map(({ gatewayWorkloadLabels = {} }) => gatewayWorkloadLabels).find((wanted) => Object.keys(wanted).length > 0);
  const portName = entries.map(({ gatewayTlsPortName = "" }) => gatewayTlsPortName).find((name) => name !== "");
  return { labels: labels === undefined ? DEFAULT_LABELS : [labels], portName: portName ?? DEFAULT_PORT };
}

/** Whether labels, or what a Service selects by, are those of gateways. */
export function isOfGateway({ labels }: GatewayDetector, own: Labels | undefined): boolean {
  return labels.some((wanted) => matchesLabels(wanted, own ?? {}));
}

/** The Services of a control plane's namespace through which other clusters reach its mesh; reports for those they can't use. */
export function ingressGatewaysOf(inputs: ControlPlaneInputs): {
  readonly gateways: readonly IngressGateway[];
  readonly reports: readonly Report[];
} {
  const detector = gatewayDetector(inputs.discovery, namespaceLocationOf(inputs.deployment).clusterName);
  const found = inputs.services
    .filter(({ spec }) => isOfGateway(detector, spec?.selector))
    .map((service) => ({ service, gateway: gatewayOf(service, detector.portName, inputs) }));
  const gateways = found.flatMap(({ gateway }) => (typeof gateway === "string" ? [] : [gateway]));
  // Beside one for other clusters, nobody lacks their port at one for requests from outside.
  const areApart = detector.labels === DEFAULT_LABELS && gateways.some(({ workloadLabels }) => matchesLabels(FOR_CLUSTERS, workloadLabels));
  const reports = found.flatMap(({ service, gateway }) => {
    if (typeof gateway !== "string" || (areApart && portOf(service, detector.portName) === undefined)) return [];
    return [finding(refOf(service), "WARNING", "IngressGatewayUnusable", gateway)];
  });
  return { gateways, reports };
}

function portOf({ spec }: Service, portName: string): KubernetesServicePort | undefined {
  return spec?.ports?.find(({ name = "" }) => name === portName);
}

type GatewayNodes = Pick<ControlPlaneInputs, "gatewayNode" | "otherNode">;

/** A gateway, or why it can't be used. */
function gatewayOf(service: Service, portName: string, nodes: GatewayNodes): IngressGateway | string {
  const port = portOf(service, portName);
  if (port === undefined) return `spec.ports: no port is named ${portName}: add the port for traffic from other clusters`;
  const reached = reachedAt(service, port, nodes);
  if (typeof reached === "string") return reached;
  const { targetPort = 0 } = port;
  if (typeof targetPort === "string" && targetPort !== "")
    return `spec.ports: targetPort ${targetPort} of port ${portName} is a name: set its number`;
  const { name, namespace = "" } = service.metadata;
  return withoutZeroValues({
    name,
    namespace,
    workloadLabels: service.spec?.selector ?? {},
    externalAddress: reached.dnsName ?? reached.ip ?? "",
    ...(reached.dnsName === undefined ? { ip: reached.ip } : { dnsName: reached.dnsName }),
    externalTlsPort: reached.port,
    tlsContainerPort: targetPort === 0 || targetPort === "" ? port.port : targetPort,
  });
}

interface ReachedAt {
  readonly ip?: string;
  readonly dnsName?: string;
  readonly port: number;
}

/** Where other clusters reach a port of a Service, or why they don't. */
function reachedAt(service: Service, port: KubernetesServicePort, { gatewayNode, otherNode }: GatewayNodes): ReachedAt | string {
  const { type = "ClusterIP", externalIPs = [] } = service.spec ?? {};
  const externalIp = externalIPs[0];
  if (type === "NodePort") {
    const { nodePort = 0 } = port;
    // Every node forwards a node port. Of pods that are about to restart it is not known where they will run.
    const stated = externalIp === undefined ? undefined : { ip: externalIp };
    const address = addressOf(gatewayNode) ?? stated ?? addressOf(otherNode);
    if (address === undefined) return "no node that runs its pods has an external address: set one in spec.externalIPs";
    return { ...address, port: nodePort };
  }
  if (type === "LoadBalancer") {
    const { port: number = 0 } = port;
    const { ip = "", hostname = "" } = service.status?.loadBalancer?.ingress?.[0] ?? {};
    if (ip !== "") return { ip, port: number };
    if (hostname !== "") return { dnsName: hostname, port: number };
    if (externalIp !== undefined) return { ip: externalIp, port: number };
    return "status.loadBalancer: no address yet: wait for the load balancer, or set an address in spec.externalIPs";
  }
  return `spec.type: ${type} is not reachable from other clusters: use LoadBalancer or NodePort`;
}

function addressOf(node: Node | undefined): ExternalAddress | undefined {
  return node && reachableAddress(node);
}
