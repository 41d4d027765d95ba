import { type DaemonSet, type Deployment, type KubernetesCluster, Mesh, type MeshAgentInfo } from "@isthmus/api";
import { clusterRefOf, discoveredName, keyOfResource, refOf } from "@isthmus/core";
import type { RowSources } from "../incremental/derived.ts";
import { AGENT_PORT, AGENT_SERVICE, LEGACY_AGENT } from "../policy/hosts/agentAddress.ts";
import type { LastKnownMesh } from "../policy/lastKnownMesh.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { isTrustDomain } from "../policy/trustDomain.ts";
import type { controlPlaneJoins } from "./controlPlaneJoins.ts";
import { controlPlanesByMeshConfig } from "./controlPlanes.ts";
import { detectCilium } from "./detectors/cilium.ts";
import type { ControlPlaneInputs } from "./detectors/controlPlane.ts";
import { meshDetectors } from "./detectors/index.ts";
import { gatewayDetector, isOfGateway } from "./detectors/istioGateways.ts";
import { type DiscoveryResult, keyAcrossKinds } from "./discoveryResult.ts";
import { ciliumGone, heldCilium, heldMesh } from "./heldControlPlanes.ts";
import { firstThatCounts, inInfrastructure, mayHoldInfrastructure } from "./infrastructure.ts";
import { type DiscoveryOptions, discoveredMetadata } from "./metadata.ts";
import { ciliumNotTrusted } from "./notTrusted.ts";
import { type DiscoveryContext, isInDiscoveryScope, nodeNamed, reachableNode } from "./sources.ts";

/** Translates one control plane into its Mesh. */
export function translateMesh(inputs: ControlPlaneInputs): DiscoveryResult<Mesh> {
  const { deployment, cilium, ciliumReports, owner, namespace } = inputs;
  const held = heldMesh(deployment);
  const detector = meshDetectors.find((one) => one.isControlPlane(deployment));
  const { spec, reports } = held ?? detector?.detect(inputs) ?? { reports: [] };
  const all = [...reports, ...ciliumReports];
  if (spec === undefined) return { reports: all };
  const metadata = discoveredMetadata(discoveredName(clusterRefOf(deployment)), deployment, owner, namespace);
  const { cilium: _, ...ofMesh } = spec;
  const mesh: Mesh = {
    apiVersion: Mesh.apiVersion,
    kind: Mesh.kind,
    metadata,
    spec: cilium === undefined ? ofMesh : { ...ofMesh, cilium },
  };
  return { output: { resource: mesh, parents: [held?.source ?? refOf(deployment)] }, reports: all };
}

type ControlPlaneLookup = RowSources<typeof controlPlaneJoins, DiscoveryContext, unknown>["lookup"];

/** What the detection of one control plane reads. */
export function controlPlaneInputs(deployment: Deployment, context: DiscoveryContext, lookup: ControlPlaneLookup): ControlPlaneInputs {
  const { options, owner, discovery } = context;
  const { clusterName } = namespaceLocationOf(deployment);
  const detector = gatewayDetector(discovery, clusterName);
  const [nodes] = lookup("nodes");
  const gatewayNode = lookup("pods")
    .filter(({ metadata }) => isOfGateway(detector, metadata.labels))
    .map(({ spec }) => nodeNamed(spec?.nodeName, nodes))
    .find((node) => node !== undefined);
  const configMaps = new Map(lookup("meshConfigs").map((configMap) => [keyOfResource(configMap), configMap]));
  const isOfPlane = ({ metadata }: LastKnownMesh) => metadata.namespace === options.namespace && (metadata.clusterName ?? "") === "";
  const knownInCluster = lookup("knownInCluster").filter(isOfPlane);
  return {
    deployment,
    configMap: controlPlanesByMeshConfig(deployment)
      .map((key) => configMaps.get(key))
      .find((configMap) => configMap !== undefined),
    firstNode: nodes?.rows[0],
    agent: placeOfAgent(options, lookup),
    services: lookup("services"),
    ipFamilies: [...(lookup("servicesOverIpv4").length > 0 ? ["IPv4"] : []), ...(lookup("servicesOverIpv6").length > 0 ? ["IPv6"] : [])],
    ambientNamespaces: lookup("ambientNamespaces")
      .map(({ metadata }) => metadata.name)
      .sort()
      .slice(0, MOST_AMBIENT),
    gatewayNode,
    otherNode: gatewayNode === undefined && nodes !== undefined ? reachableNode(nodes).node : undefined,
    ...ciliumIn(context, lookup, knownInCluster, deployment),
    systemNamespaces: lookup("meshScope")[0]?.infrastructure.namespaces,
    discovery,
    lastKnown: lookup("lastKnown").find(isOfPlane),
    acceptedTrustDomain: acceptedTrustDomain(options, lookup),
    severalTrustDomains: lookup("meshScope")[0]?.severalTrustDomains ?? false,
    ...knownTrust(options, lookup, { knownInCluster, deployment }),
    owner,
    namespace: options.namespace,
  };
}

// They are named to people.
const MOST_AMBIENT = 100;

/** Cilium in the cluster of a control plane, and what only looks like it, which is reported once in a cluster. */
function ciliumIn(
  context: DiscoveryContext,
  lookup: ControlPlaneLookup,
  known: readonly LastKnownMesh[],
  deployment: Deployment,
): Pick<ControlPlaneInputs, "cilium" | "ciliumReports"> {
  const all = daemonSetsInScope(context, lookup);
  const [scope] = lookup("meshScope");
  const infrastructure = scope?.infrastructure ?? { namespaces: undefined };
  const before = known.map(({ ciliumNamespace }) => ciliumNamespace).find((namespace) => namespace !== "");
  const counted = firstThatCounts(all, before, { ...infrastructure, ages: context.options.ages ?? "FIRST_SEEN" });
  const isFirst = scope?.planes[0] === keyAcrossKinds(deployment);
  const others = all.filter((one) => one !== counted && !mayHoldInfrastructure(namespaceLocationOf(one).namespace, infrastructure));
  const found = counted && detectCilium({ daemonSet: counted, configs: lookup("ciliumConfigs"), clusterMeshes: lookup("clusterMeshes") });
  const isReliedOn = lookup("virtualMeshesOfKnown").length > 0 || lookup("accessPolicies").length > 0;
  const held = found === undefined && isReliedOn ? heldCilium(known, registrationOf(context.options.namespace, lookup)) : undefined;
  const gone = held && ciliumGone(held, namespaceLocationOf(deployment).clusterName);
  return {
    cilium: found ?? (held && gone && { ...held, held: gone.message }),
    ciliumReports: isFirst ? [...(gone === undefined ? [] : [gone]), ...others.map(ciliumNotTrusted)] : [],
  };
}

/** Agents send no others. */
function daemonSetsInScope(context: DiscoveryContext, lookup: ControlPlaneLookup): readonly DaemonSet[] {
  const [meshScope] = lookup("meshScope");
  const namespaces = lookup("ciliumNamespaces");
  return lookup("ciliumDaemonSets").filter((daemonSet) => {
    const namespace = () => namespaces.find(({ metadata }) => metadata.name === daemonSet.metadata.namespace)?.metadata.labels;
    return isInDiscoveryScope(daemonSet, context, { meshScope, namespace });
  });
}

/**
 * Where the agent of a cluster runs: an agent that discovers says so itself; else as it said when it registered. Before, by its pods, whose labels
 * are anybody's who may run pods: so in namespaces of infrastructure, if there are any. The Service by which it is reached: as it says; of one that does not, the label of
 * its pods shows the generation of names.
 */
function placeOfAgent({ namespace, agentCluster }: DiscoveryOptions, lookup: ControlPlaneLookup): MeshAgentInfo | undefined {
  if (agentCluster !== undefined) return { agentNamespace: namespace };
  const registration = registrationOf(namespace, lookup);
  const { agent, namespace: registered } = registration?.status ?? {};
  const { service } = agent ?? {};
  const pods = inInfrastructure(lookup("agentPods"), lookup("meshScope")[0]?.infrastructure ?? { namespaces: undefined });
  const agentNamespace = (agent === undefined ? undefined : registered) ?? pods[0]?.metadata.namespace ?? "";
  if (agentNamespace === "") return undefined;
  if (service?.name !== undefined) {
    const { name, grpcPort = 0 } = service;
    // What counts anyway changes no Mesh.
    if (name === AGENT_SERVICE && grpcPort === AGENT_PORT) return { agentNamespace };
    return { agentNamespace, serviceName: name, servicePort: grpcPort };
  }
  const isLegacy = pods.some(({ metadata }) => metadata.namespace === agentNamespace && metadata.labels?.["app"] === LEGACY_AGENT);
  return { agentNamespace, ...(isLegacy ? { serviceName: LEGACY_AGENT, servicePort: AGENT_PORT } : {}) };
}

function registrationOf(planeNamespace: string, lookup: ControlPlaneLookup): KubernetesCluster | undefined {
  return lookup("registrations").find(({ metadata }) => metadata.namespace === planeNamespace && (metadata.clusterName ?? "") === "");
}

/** Of the meshes of a cluster that is registered; "" where the registration leaves it to what is first seen. */
function acceptedTrustDomain({ namespace }: DiscoveryOptions, lookup: ControlPlaneLookup): string | undefined {
  const registration = registrationOf(namespace, lookup);
  return registration && (registration.spec?.trustDomain ?? "");
}

/** The trust domains that meshes of a cluster have had, as the Meshes say that are published, or else the registration; and the one that stays in use where a mesh names another one. */
function knownTrust(
  options: DiscoveryOptions,
  lookup: ControlPlaneLookup,
  { knownInCluster, deployment }: { readonly knownInCluster: readonly LastKnownMesh[]; readonly deployment: Deployment },
): Pick<ControlPlaneInputs, "knownTrustDomains" | "pinnedTrustDomain"> {
  const ofMeshes = knownInCluster.map(({ trustDomain }) => trustDomain).filter((domain) => domain !== "");
  const pinned = ofMeshes.length > 0 ? [] : (registrationOf(options.namespace, lookup)?.status?.trustDomains ?? []).filter(isTrustDomain);
  const domains = [...ofMeshes, ...pinned];
  const older = olderTrustDomain(deployment, lookup);
  return {
    knownTrustDomains: domains.length === 0 && older !== "" ? [older] : [...new Set(domains)].sort(),
    // Of several nobody knows which one this mesh had.
    pinnedTrustDomain: pinned.length === 1 ? (pinned[0] ?? "") : "",
  };
}

/** Where nothing vouches for a control plane, one that came later does not say what callers of its cluster are named by. "" where that does not hold. */
function olderTrustDomain(deployment: Deployment, lookup: ControlPlaneLookup): string {
  const [scope] = lookup("meshScope");
  if (scope === undefined || scope.infrastructure.namespaces !== undefined) return "";
  return scope.younger.includes(keyAcrossKinds(deployment)) ? scope.trustDomain : "";
}
