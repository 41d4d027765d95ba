import type {
  AccessLogRecord,
  AccessPolicy,
  Destination,
  IssuedCertificate,
  Mesh,
  MeshAgentInfo,
  PeerAuthentication,
  Secret,
  ServiceDependency,
  ServiceEntry,
  Settings,
  Sidecar,
  TrafficPolicy,
  VirtualDestination,
  VirtualDestinationSpec,
  VirtualMesh,
  WasmDeployment,
  Workload,
} from "@isthmus/api";
import type { Output, Report, Resource } from "@isthmus/core";
import type { AccessPolicyFallback } from "../policy/accessPolicyEffect.ts";
import type { VirtualIp } from "../policy/hosts/virtualIpAddresses.ts";
import type { PodNetwork } from "../policy/podNetwork.ts";
import type { AgeSource } from "../policy/precedence.ts";
import type { TrustDomain } from "../policy/trustDomain.ts";

/** A target's translation is a pure function of one of these flat records: nothing else may be read, so equal inputs need no new translation. */

/** What every target may read. One value per run, and the same value from run to run while nothing in it changes. */
export interface TranslationContext {
  /** Namespace of the management plane: where discovered objects live and what the owner label says. */
  readonly namespace: string;
  readonly settings: Settings | undefined;
  /** DNS domain of each registered cluster that names one; others have `cluster.local`. */
  readonly clusterDomains: ReadonlyMap<string, string>;
  /** Registered clusters in which nothing is written for now, so that their services cannot be reached from others. */
  readonly observedClusters: ReadonlySet<string>;
  /** How old objects of workload clusters are: it decides who has precedence. */
  readonly ages: AgeSource;
  /** Refuse to write what a user's own object for the same host says already. */
  readonly disallowIntersectingConfig: boolean;
}

/** All that the translation of one Destination may read. */
export interface DestinationInputs {
  /** With `status.appliedFederation` and `status.requiredSubsets`, and nothing else in its status. */
  readonly destination: Destination;
  /** The mesh it is in. */
  readonly mesh: Mesh;
  /** TrafficPolicies in force on it, in order of precedence. */
  readonly trafficPolicies: readonly TrafficPolicy[];
  /** AccessPolicies in force on it, in order of precedence. */
  readonly accessPolicies: readonly AccessPolicy[];
  /** What stands for AccessPolicies that can't be in force as they are written, in order of precedence; some of those above among them. */
  readonly heldAccess: readonly AccessPolicyFallback[];
  /**
   * Meshes that name a trust domain, in key order within each cluster: those of the clusters of which those AccessPolicies name callers, or
   * all where there is `pods`, as the network layer must let in all that the mesh cannot tell from those callers.
   */
  readonly callingMeshes: readonly Mesh[];
  /** Other meshes with the trust domains that rules about those callers let in. */
  readonly alikeMeshes: AlikeMeshes;
  /** Other Services with some of its pods, where AccessPolicies bear on it; in key order. */
  readonly podSharers: readonly PodSharer[];
  /** Objects of users that say who may call, in its namespace and in the root namespace of its mesh, where AccessPolicies bear on it; by kind, in key order. */
  readonly userAccess: readonly Resource[];
  /** The accepted VirtualMesh of its mesh, for its name alone: what it says of the Destination is in the other inputs. */
  readonly virtualMesh: Resource | undefined;
  /** The meshes it is federated to, in key order. */
  readonly federatedTo: readonly Mesh[];
  /** The VirtualMesh of its mesh, for the meshes that it joins, where its cluster has Cilium. */
  readonly joinedBy: VirtualMesh | undefined;
  /** The gateways of its mesh, where its cluster has Cilium. */
  readonly ownGateways: readonly IngressGatewayRef[];
  /** Workloads that may be behind those gateways. */
  readonly gatewayWorkloads: readonly Workload[];
  /**
   * What may lead gateways to it beside its federation, where its cluster has Cilium: VirtualDestinations that take it, VirtualServices of users
   * that gateways read, routes of the Gateway API with the ReferenceGrants of its namespace, and Gateways of users that pass connections to the service that they ask for.
   */
  readonly gatewayRoutes: readonly Resource[];
  /** Through which other clusters reach it; empty when it is not federated. */
  readonly gateways: readonly IngressGatewayRef[];
  /** Services of the same name and namespace in other clusters that its mesh may call, where it fails over to them; in key order. */
  readonly failoverPeers: readonly FailoverPeer[];
  /** The address of its federated host name, when it is federated. */
  readonly virtualIp: VirtualIp | undefined;
  /** Other Destinations that its policies refer to, with their federation in their statuses, in key order. */
  readonly referred: readonly Destination[];
  /** VirtualDestinations that its policies refer to, in key order. */
  readonly virtualDestinations: readonly VirtualDestination[];
  /** Workloads whose pods its Service selects, in key order. */
  readonly workloads: readonly Workload[];
  /** Pods that its Service selects, where its cluster has Cilium, the Settings ask about it, and AccessPolicies bear on it. */
  readonly pods: readonly PodNetwork[];
  /** The object with the settings of its mesh, of the kind that the mesh's translator names. */
  readonly meshConfig: Resource | undefined;
  /** Objects of users, of the kinds that the mesh's translator names, of all clusters it is visible in, whose hosts meet its own. */
  readonly userObjects: readonly UserObject[];
  /** PeerAuthentications of its namespace, and of the root namespace of its mesh. */
  readonly peerAuthentications: readonly PeerAuthentication[];
  readonly translationContext: TranslationContext;
}

/** Meshes by whether a VirtualMesh joins them to the mesh of a Destination, in key order. */
export interface AlikeMeshes {
  readonly joined: readonly TrustDomain[];
  readonly elsewhere: readonly TrustDomain[];
}

/** A Service with pods of another one. Read is only what it selects, its ports, and what bears on it. */
export interface PodSharer {
  readonly destination: Destination;
  /** In order of precedence. */
  readonly accessPolicies: readonly AccessPolicy[];
  readonly heldAccess: readonly AccessPolicyFallback[];
}

/** A Destination that another one of its name fails over to. Read is only what is seen from other clusters: not which pods there are. */
export interface FailoverPeer {
  readonly destination: Destination;
  /** The mesh it is in. */
  readonly mesh: Mesh;
  /** Through which other clusters reach it. */
  readonly gateways: readonly IngressGatewayRef[];
  /** Workloads whose pods its Service selects, in key order. */
  readonly workloads: readonly Workload[];
  /** Whether others are to call its cluster no more while they have something else to call. */
  readonly isOffline: boolean;
  /** Whether an AccessPolicy selects it, in any form. */
  readonly isGuarded: boolean;
}

/** An object of a user, of one of a mesh's own kinds, that is about a host of ours. */
export type UserObject = Resource;

/** A gateway in use: as the mesh's `status.appliedEastWestIngressGateways` has it, with its Destination. */
export interface IngressGatewayRef {
  readonly destination: Destination;
  readonly externalAddresses: readonly string[];
  /** Port at which other clusters reach it. */
  readonly destinationPort: number;
  /** Port on which its pods listen. */
  readonly containerPort: number;
}

/** All that the translation of one Mesh may read. */
export interface MeshInputs {
  readonly mesh: Mesh;
  /** The accepted VirtualMesh it belongs to. */
  readonly virtualMesh: VirtualMesh | undefined;
  /** The known meshes of that VirtualMesh, itself included, in key order. */
  readonly meshes: readonly Mesh[];
  /** Its gateways in use. */
  readonly gateways: readonly IngressGatewayRef[];
  /** Its workloads, in key order. */
  readonly workloads: readonly Workload[];
  /** Where access is closed, the Services in front of its gateways, in key order; else none. */
  readonly gatewayServices: readonly Destination[];
  /** `keyOf` those of them on which AccessPolicies bear. */
  readonly guardedServices: readonly string[];
  /** Where access is closed, the objects of users that say who may call, in its root namespace and in those of these Services, perhaps some twice. */
  readonly userAccess: readonly Resource[];
  /** The Secret `<name>.<namespace>` of its VirtualMesh's generated root in the plane's namespace, when it exists. */
  readonly rootSecret: Secret | undefined;
  /** What its agent reports of its certificates. */
  readonly issued: IssuedCertificate | undefined;
  /** Whether others are to call its cluster no more while they have something else to call. */
  readonly isOffline: boolean;
  /** The AccessLogRecords that can select Workloads of its cluster, in key order. */
  readonly accessLogRecords: readonly AccessLogRecord[];
  readonly translationContext: TranslationContext;
}

/** All that the translation of one accepted VirtualMesh may read: for what exists once, in the management cluster. */
export interface VirtualMeshInputs {
  readonly virtualMesh: VirtualMesh;
  /** Its known meshes, in key order. */
  readonly meshes: readonly Mesh[];
  /** The Secret `<name>.<namespace>` of a generated root in the plane's namespace, when it exists. */
  readonly rootSecret: Secret | undefined;
  readonly translationContext: TranslationContext;
}

/** All that the translation of one VirtualDestination may read. */
export interface VirtualDestinationInputs {
  readonly virtualDestination: VirtualDestination;
  /** What is in force of it: its spec, or its last accepted one; undefined where neither can be. */
  readonly spec: VirtualDestinationSpec | undefined;
  /** The Destinations behind its host that have its port, in its own order where it has one, else in key order. */
  readonly targets: readonly Destination[];
  /** The meshes that can call it, in key order. */
  readonly exports: readonly MeshWithGateways[];
  /** The meshes of those Destinations, in key order. */
  readonly homes: readonly MeshWithGateways[];
  /** Workloads behind those Destinations, in key order. */
  readonly workloads: readonly Workload[];
  readonly virtualIp: VirtualIp;
  /** Clusters of those Destinations that others are to call no more while they have something else to call. */
  readonly offlineClusters: readonly string[];
  /** ServiceEntries of users for its host. */
  readonly userEntries: readonly ServiceEntry[];
  /** TrafficPolicies in force on its host, in order of precedence. */
  readonly trafficPolicies: readonly TrafficPolicy[];
  /** TrafficPolicies that shift traffic to a part of the pods behind it, in order of precedence. */
  readonly subsetPolicies: readonly TrafficPolicy[];
  /** What was found when this was decided. */
  readonly reports: readonly Report[];
  readonly translationContext: TranslationContext;
}

/** All that the translation of one Workload may read which ServiceDependencies, AccessLogRecords or WasmDeployments select. */
export interface SelectedWorkloadInputs {
  readonly workload: Workload;
  /** The mesh it is in. */
  readonly mesh: Mesh;
  /** The ServiceDependencies that select it, in key order. */
  readonly dependencies: readonly ServiceDependency[];
  /** Those of them because of which it is not limited. */
  readonly open: readonly ServiceDependency[];
  /** The Destinations that it depends on, with their federation in their statuses, in key order. */
  readonly destinations: readonly Destination[];
  /** Hosts of VirtualDestinations that may lead to these, in order. */
  readonly virtualHosts: readonly string[];
  /** Other Workloads whose pods have all the labels of its own. */
  readonly neighbors: readonly Workload[];
  /** Sidecars of users in its namespace. */
  readonly userSidecars: readonly Sidecar[];
  /** The AccessLogRecords that are in force on it, in key order. */
  readonly accessLogRecords: readonly AccessLogRecord[];
  /** The WasmDeployments that are in force on it, in the order in which requests reach their filters. */
  readonly wasmDeployments: readonly WasmDeployment[];
  /** Other Workloads in its namespace and mesh, whose labels are all among those of its pods: what is written for them is for it, too. */
  readonly coveredBy: readonly Workload[];
  /** The agent of its cluster; undefined while none is known. */
  readonly agent: MeshAgentInfo | undefined;
  readonly translationContext: TranslationContext;
}

/** A mesh, as Destinations and their callers see it, and the gateways through which others reach it. */
export interface MeshWithGateways {
  readonly mesh: Mesh;
  readonly gateways: readonly IngressGatewayRef[];
  /** Of the federated host names of its VirtualMesh, which those gateways let in. */
  readonly hostnameSuffix: string;
  /** Of its cluster's agent; undefined without one. */
  readonly agentNamespace: string | undefined;
}

/** What one target wants to exist, and what was found in users' resources on the way. */
export interface TargetTranslation {
  readonly outputs: readonly Output[];
  /**
   * A report with state INVALID whose subject is a policy or VirtualMesh and whose target is a Destination or Mesh takes
   * that subject off the target's published status.
   */
  readonly reports: readonly Report[];
}

/** Nothing desired, nothing found. */
export const emptyTranslation: TargetTranslation = { outputs: [], reports: [] };

/** Several translations of one target as one. */
export function mergeTranslations(translations: readonly TargetTranslation[]): TargetTranslation {
  return { outputs: translations.flatMap(({ outputs }) => outputs), reports: translations.flatMap(({ reports }) => reports) };
}
