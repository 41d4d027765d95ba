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

/** The one address at which a NodePort is reached on a node: its first that is not internal, on kind its first internal one; "" without any. */
export function reachableAddress(node: Node): string {
  const isDiscoveredCluster = isKindNode(node) ? (type: string) => type === "InternalIP" : (type: string) => !type.startsWith("Internal");
  return addressesOf(node).find(({ type }) => isDiscoveredCluster(type))?.address ?? "";
}

/** Every address at which a NodePort is reached on a node, in the node's order. */
export function externalAddressesOfNode(node: Node): readonly ExternalAddress[] {
  const isKind = isKindNode(node);
  return addressesOf(node)
    .filter(({ type }) => type === "ExternalIP" || type === "Hostname" || (isKind && type === "InternalIP"))
    .map(({ type, address }) => (type === "Hostname" ? { dnsName: address } : { ip: address }));
}

function addressesOf(node: Node): readonly { readonly type: string; readonly address: string }[] {
  return (node.status?.addresses ?? []).map(({ type = "", address = "" }) => ({ type, address }));
}

/** Whether a node is of kind (kind.sigs.k8s.io): its internal addresses can be reached from other clusters on the same machine. */
function isKindNode(node: Node): boolean {
  return node.status?.images?.some(({ names = [] }) => names.some((name) => name.includes(KIND_NODE_IMAGE))) ?? false;
}
