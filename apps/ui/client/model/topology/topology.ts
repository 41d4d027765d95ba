import { type ClusterObjectRef, type Index, keyOf, keyOfResource, type ResourceRef, type SignalRates } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { AccessPolicy, Destination, Mesh, TrafficPolicy, VirtualMesh, Workload } from "../../data/kinds.ts";
import { clusterOf } from "../clusters/clusterOf.ts";
import { destinationsOf } from "../selection.ts";

/** A service, or all services of a namespace. */
export interface TopologyNode {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly cluster: string;
  /** Undefined for a namespace. */
  readonly destination: Destination | undefined;
  readonly isFederated: boolean;
  /** Of a namespace: what it stands for. */
  readonly members?: readonly Destination[];
  /** What sends or gets requests and is no Destination: a workload behind no Service, a host outside. */
  readonly isOutside?: true;
}

export type EdgeType = "route" | "mirror" | "access" | "federation" | "traffic";

/** Why traffic may go, or is sent, from one service to another; of a federation from one cluster to another. */
export interface TopologyEdge {
  readonly id: string;
  readonly type: EdgeType;
  /** Ids of nodes; of a federation, names of clusters. */
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** Of traffic, what is known of one of its ends. */
  readonly because: ResourceRef | undefined;
  /** What was counted of it. */
  readonly rates?: SignalRates;
  /** With `rates`: requests and failed requests a second at the last moments, in turns, oldest first. */
  readonly series?: ArrayLike<number>;
}

export interface Topology {
  readonly nodes: readonly TopologyNode[];
  readonly edges: readonly TopologyEdge[];
  /** Whether each node is a namespace, as there are too many services to draw. */
  readonly isGrouped: boolean;
}

// More services than these are drawn by namespace.
const MOST_SERVICES = 300;

/** What configuration says of traffic between services: where it is sent, who is allowed, where it is federated. */
export function topologyOf(fleet: Fleet, most = MOST_SERVICES): Topology {
  const services = [...fleet.snapshot.of(Destination)].map(nodeOf);
  const edges = new Map<string, TopologyEdge>();
  const add = (edge: Omit<TopologyEdge, "id"> & { readonly because: ResourceRef }): void => {
    const id = `${edge.type} ${edge.from} ${edge.to} ${keyOf(edge.because)}`;
    if (edge.from !== edge.to && !edges.has(id)) edges.set(id, { ...edge, id });
  };
  const isGrouped = services.length > most;
  const groups = new Map<string, TopologyNode & { readonly members: Destination[] }>();
  for (const { namespace, cluster, destination } of isGrouped ? services : []) {
    const id = `${cluster}/${namespace}`;
    const group = groups.get(id) ?? { id, name: namespace, namespace, cluster, destination: undefined, isFederated: false, members: [] };
    if (destination !== undefined) group.members.push(destination);
    groups.set(id, group);
  }
  const idOf = ({ id, cluster, namespace }: TopologyNode) => (isGrouped ? `${cluster}/${namespace}` : id);
  const byService = new Map(services.flatMap((node) => serviceKeysOf(node).map((key) => [key, node] as const)));
  const byId = new Map(services.map((node) => [node.id, node]));
  const accounts = serviceAccounts(fleet);
  for (const node of services) {
    for (const edge of routesOf(node, byService)) add({ ...edge, from: idOf(node), to: idOf(edge.to) });
    for (const { account, because } of allowedAccounts(node)) {
      for (const workload of accounts(account)) {
        for (const destination of destinationsOf(fleet, workload)) {
          const caller = byId.get(keyOfResource(destination));
          if (caller !== undefined) add({ type: "access", from: idOf(caller), to: idOf(node), label: "", because });
        }
      }
    }
    for (const { to, because } of federationsOf(fleet, node)) add({ type: "federation", from: to, to: node.cluster, label: "", because });
  }
  return { nodes: isGrouped ? [...groups.values()] : services, edges: [...edges.values()], isGrouped };
}

function nodeOf(destination: Destination): TopologyNode {
  const { kubeService, externalService } = destination.spec ?? {};
  return {
    id: keyOfResource(destination),
    name: kubeService?.ref?.name ?? externalService?.name ?? destination.metadata.name,
    namespace: kubeService?.ref?.namespace ?? "",
    cluster: clusterOf(destination),
    destination,
    isFederated: isFederated(destination),
  };
}

/** Whether workloads of other meshes can call a Destination. */
export function isFederated({ status }: Destination): boolean {
  return (status?.appliedFederation?.federatedToMeshes ?? []).length > 0;
}

function serviceKeysOf({ destination }: TopologyNode): readonly string[] {
  const ref = destination?.spec?.kubeService?.ref;
  return ref?.name === undefined ? [] : [keyOf(fullRef(ref))];
}

function routesOf(node: TopologyNode, byService: ReadonlyMap<string, TopologyNode>) {
  return (node.destination?.status?.appliedTrafficPolicies ?? []).flatMap(({ ref, spec }) => {
    const because = { ...TrafficPolicy, ...fullRef(ref) };
    const shifts = spec?.policy?.trafficShift?.destinations ?? [];
    const total = shifts.reduce((sum, { weight = 0 }) => sum + weight, 0);
    const { mirror } = spec?.policy ?? {};
    const targets = [
      ...shifts.map(({ kubeService, weight = 0 }) => ({
        type: "route" as const,
        service: kubeService,
        label: total === 0 ? "" : `${Math.round((100 * weight) / total)} %`,
      })),
      ...(mirror?.kubeService === undefined
        ? []
        : [{ type: "mirror" as const, service: mirror.kubeService, label: percentText(mirror.percentage) }]),
    ];
    return targets.flatMap(({ type, service, label }) => {
      const to = service === undefined ? undefined : byService.get(keyOf(fullRef(service)));
      return to === undefined ? [] : [{ type, to, label, because }];
    });
  });
}

/** Of a mirror that does not say how much, all is copied. */
function percentText(percentage = 100): string {
  return `${Math.round(percentage * 10) / 10} %`;
}

function allowedAccounts({ destination }: TopologyNode) {
  return (destination?.status?.appliedAccessPolicies ?? []).flatMap(({ ref, spec }) =>
    (spec?.sourceSelector ?? []).flatMap(({ kubeServiceAccountRefs }) =>
      (kubeServiceAccountRefs?.serviceAccounts ?? []).map((account) => ({
        account: keyOf(fullRef(account)),
        because: { ...AccessPolicy, ...fullRef(ref) },
      })),
    ),
  );
}

function federationsOf({ snapshot }: Fleet, { destination }: TopologyNode) {
  const { federatedToMeshes = [], virtualMeshRef } = destination?.status?.appliedFederation ?? {};
  return federatedToMeshes.flatMap((ref) => {
    const mesh = snapshot.of(Mesh).get(fullRef(ref));
    return mesh === undefined ? [] : [{ to: clusterOf(mesh), because: { ...VirtualMesh, ...fullRef(virtualMeshRef) } }];
  });
}

const BY_ACCOUNT: Index<Workload> = ({ spec }) => {
  const { controller, serviceAccountName } = spec?.kubernetes ?? {};
  return controller === undefined ? [] : [keyOf({ ...fullRef(controller), name: serviceAccountName || "default" })];
};

function serviceAccounts({ snapshot }: Fleet): (account: string) => readonly Workload[] {
  const workloads = snapshot.of(Workload);
  return (account) => workloads.where(BY_ACCOUNT, account);
}

function fullRef(ref: Partial<ClusterObjectRef> | undefined): ClusterObjectRef {
  const { name = "", namespace = "", clusterName = "" } = ref ?? {};
  return { name, namespace, clusterName };
}
