import { ConfigMap, DaemonSet, Deployment, KubernetesCluster, Namespace, Pod, Service, VirtualMesh } from "@isthmus/api";
import { discoveredName, equalJson, type Resource } from "@isthmus/core";
import { inputKind, inputTable, join } from "../incremental/join.ts";
import { LastKnownMesh } from "../policy/lastKnownMesh.ts";
import { namespaceLocationOf, podsByNamespace } from "../policy/podIndexes.ts";
import { controlPlanesByCluster, controlPlanesByMeshConfig, controlPlanesByNamespace, isControlPlane } from "./controlPlanes.ts";
import { AMBIENT, DATAPLANE_MODE_LABEL } from "./detectors/ambient.ts";
import { byCiliumConfig, byClusterMesh, ciliumByCluster } from "./detectors/cilium.ts";
import { keyAcrossKinds } from "./discoveryResult.ts";
import { accessPoliciesAbout } from "./heldControlPlanes.ts";
import { agentPods, byCluster, byNamespaceObject, servicesByNamespace } from "./indexes.ts";
import { type DiscoverySources, nodes, scopes } from "./sources.ts";
import { virtualMeshesByMember } from "./standIns.ts";

/** What the discovery of meshes reads. */
export type MeshSources = Pick<DiscoverySources, "inputs" | "context" | "controlPlanes" | "scopes">;

/** Where the discovery of meshes in control planes begins. */
export const controlPlanes = inputTable((sources: MeshSources) => sources.controlPlanes, keyAcrossKinds);
const pods = inputKind<MeshSources, Pod>(Pod);

const ciliumDaemonSets = join({
  from: controlPlanes,
  key: controlPlanesByCluster,
  to: inputKind<MeshSources, DaemonSet>(DaemonSet),
  index: ciliumByCluster,
});

const knownInCluster = join({
  from: controlPlanes,
  key: controlPlanesByCluster,
  to: inputKind<MeshSources, LastKnownMesh>(LastKnownMesh),
  index: ({ cluster }) => [cluster],
  isSame: (before, after) => before.trustDomain === after.trustDomain && equalJson(before.spec?.cilium, after.spec?.cilium),
});

/** What a control plane looks up. */
export const controlPlaneJoins = {
  meshConfigs: join({ from: controlPlanes, key: controlPlanesByMeshConfig, to: inputKind<MeshSources, ConfigMap>(ConfigMap) }),
  pods: join({ from: controlPlanes, key: controlPlanesByNamespace, to: pods, index: podsByNamespace, isSame: isSamePlace }),
  services: join({
    from: controlPlanes,
    key: controlPlanesByNamespace,
    to: inputKind<MeshSources, Service>(Service),
    index: servicesByNamespace,
  }),
  servicesOverIpv4: servicesWithFamily(byIpv4),
  servicesOverIpv6: servicesWithFamily(byIpv6),
  ambientNamespaces: join({
    from: controlPlanes,
    key: controlPlanesByCluster,
    to: inputKind<MeshSources, Namespace>(Namespace),
    index: byAmbient,
    isSame: () => true,
  }),
  nodes: join({ from: controlPlanes, key: controlPlanesByCluster, to: nodes }),
  agentPods: join({ from: controlPlanes, key: controlPlanesByCluster, to: pods, index: agentPods }),
  registrations: join({
    from: controlPlanes,
    key: controlPlanesByCluster,
    to: inputKind<MeshSources, KubernetesCluster>(KubernetesCluster),
    index: byName,
  }),
  ciliumDaemonSets,
  ciliumNamespaces: join({
    from: ciliumDaemonSets.source,
    key: byNamespaceObject,
    to: inputKind<MeshSources, Namespace>(Namespace),
    isSame: hasSameLabels,
  }),
  meshScope: join({ from: controlPlanes, key: controlPlanesByCluster, to: scopes }),
  ciliumConfigs: join({ from: ciliumDaemonSets.source, key: byCiliumConfig, to: inputKind<MeshSources, ConfigMap>(ConfigMap) }),
  clusterMeshes: join({ from: ciliumDaemonSets.source, key: byClusterMesh, to: inputKind<MeshSources, Deployment>(Deployment) }),
  lastKnown: join({
    from: controlPlanes,
    key: byDiscoveredMesh,
    to: inputKind<MeshSources, LastKnownMesh>(LastKnownMesh),
    index: byName,
  }),
  knownInCluster,
  virtualMeshesOfKnown: join({
    from: knownInCluster.source,
    to: inputKind<MeshSources, VirtualMesh>(VirtualMesh),
    index: virtualMeshesByMember,
    isSame: () => true,
  }),
  accessPolicies: accessPoliciesAbout(controlPlanes, controlPlanesByCluster),
};

/** Of Services, whether there are any with a family. */
function servicesWithFamily(index: (service: Service) => readonly string[]) {
  return join({
    from: controlPlanes,
    key: controlPlanesByCluster,
    to: inputKind<MeshSources, Service>(Service),
    index,
    isSame: (before, after) => equalJson(before.spec?.ipFamilies, after.spec?.ipFamilies),
  });
}

/** Of a namespace in ambient mode, its cluster; of others nothing. */
function byAmbient(namespace: Namespace): readonly string[] {
  return namespace.metadata.labels?.[DATAPLANE_MODE_LABEL] === AMBIENT ? byCluster(namespace) : [];
}

function byIpv4(service: Service): readonly string[] {
  return service.spec?.ipFamilies?.includes("IPv4") === true ? byCluster(service) : [];
}

function byIpv6(service: Service): readonly string[] {
  return service.spec?.ipFamilies?.includes("IPv6") === true ? byCluster(service) : [];
}

/** Of a namespace, its labels are read. */
function hasSameLabels(before: Namespace, after: Namespace): boolean {
  return equalJson(before.metadata.labels, after.metadata.labels);
}

/** Of a pod, its labels and its node are read. */
function isSamePlace(before: Pod, after: Pod): boolean {
  return before.spec?.nodeName === after.spec?.nodeName && equalJson(before.metadata.labels, after.metadata.labels);
}

function byName({ metadata }: Resource): readonly string[] {
  return [metadata.name];
}

/** Control planes by the name of their Mesh. */
function byDiscoveredMesh(deployment: Deployment): readonly string[] {
  return isControlPlane(deployment) ? [discoveredName({ name: deployment.metadata.name, ...namespaceLocationOf(deployment) })] : [];
}
