import { type ExternalAddress, KIND_NODE_IMAGE, type Node } from "@isthmus/api";

type Labels = Readonly<Record<string, string>>;

/** The region of a node; "" when it names none. Source: kubernetes.io/docs/reference/labels-annotations-taints. */
export function regionOf(node: Node | undefined): string {
  return firstLabel(node, ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"]);
}

/** The zone of a node; "" when it names none. */
export function zoneOf(node: Node | undefined): string {
  return firstLabel(node, ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"]);
}

/** Istio's division of a zone; "" when the node names none. Source: istio.io/docs/tasks/traffic-management/locality-load-balancing. */
export function subZoneOf(node: Node | undefined): string {
  return firstLabel(node, ["topology.istio.io/subzone"]);
}

function firstLabel(node: Node | undefined, keys: readonly string[]): string {
  const labels: Labels = node?.metadata.labels ?? {};
  // A label that is there counts, also when it is empty: the older one then says nothing.
  return keys.map((key) => labels[key]).find((value) => value !== undefined) ?? "";
}

/** The one address at which a NodePort is reached on a node from other clusters; undefined without any. */
export function reachableAddress(node: Node): ExternalAddress | undefined {
  return externalAddressesOfNode(node)[0];
}

/**
 * Every address at which a NodePort is reached on a node from other clusters, in the node's order: its external IPs, else its external names; on kind
 * its internal IPs as well. Never its Hostname, which is what its own network calls it, and no internal address: in another network it may be
 * anybody's. A cluster whose nodes have no others says where it is reached in `spec.externalIPs` of the Service.
 */
export function externalAddressesOfNode(node: Node): readonly ExternalAddress[] {
  const isKind = isKindNode(node);
  const all = addressesOf(node).filter(({ address }) => address !== "");
  const ips = all.filter(({ type }) => type === "ExternalIP" || (isKind && type === "InternalIP")).map(({ address }) => ({ ip: address }));
  return ips.length > 0 ? ips : all.filter(({ type }) => type === "ExternalDNS").map(({ address }) => ({ dnsName: address }));
}

function addressesOf(node: Node): readonly { readonly type: string; readonly address: string }[] {
  return (node.status?.addresses ?? []).map(({ type = "", address = "" }) => ({ type, address }));
}

/** Whether a node is of kind (kind.sigs.k8s.io): its internal addresses can be reached from other clusters on the same machine. */
function isKindNode(node: Node): boolean {
  return node.status?.images?.some(({ names = [] }) => names.some((name) => name.includes(KIND_NODE_IMAGE))) ?? false;
}
