import type {
  AppliedEastWestIngressGateway,
  Destination,
  DestinationStatus,
  Mesh,
  MeshSpec,
  TrafficPolicy,
  TrafficPolicyRules,
  TrafficPolicySpec,
  VirtualDestination,
  VirtualDestinationSpec,
  VirtualMesh,
} from "@isthmus/api";
import type { ClusterObjectRef, Kind, ObjectRef, Report, ResourceRef } from "@isthmus/core";
import type { Finding } from "../findings.ts";
import type { TrustDomain } from "../policy/trustDomain.ts";
import type { AccessFacts, AccessQuery, AccessVerdict } from "./access.ts";
import type { DestinationEffect } from "./effect.ts";
import type {
  DestinationInputs,
  MeshInputs,
  SelectedWorkloadInputs,
  TargetTranslation,
  TranslationContext,
  UserObject,
  VirtualDestinationInputs,
  VirtualMeshInputs,
} from "./inputs.ts";

/** The member of `Mesh.spec` that meshes of one type have. */
export type MeshType = Exclude<keyof MeshSpec, "agentInfo" | "cilium">;

/**
 * All that the rest of translation knows of one type of mesh. What is optional and absent does not exist in such meshes: no federation, no
 * objects of users, no trust domains. Every function is pure, and a fault of a user is a finding.
 */
export interface MeshTranslator {
  readonly type: MeshType;
  /** What messages call such a mesh, with its article. */
  readonly displayName: string;

  /** All that a Destination of such a mesh needs, in its own cluster and in those it is federated to. */
  translateDestination(inputs: DestinationInputs): TargetTranslation;
  /** All that such a mesh needs itself. */
  translateMesh?(inputs: MeshInputs): TargetTranslation;
  /** What exists once for a VirtualMesh, in the management cluster. Called for every VirtualMesh, also one without such a mesh. */
  translateVirtualMesh?(inputs: VirtualMeshInputs): TargetTranslation;

  /** What makes a VirtualDestination's host callable in such meshes. Called for every VirtualDestination in force, also without such a mesh. */
  translateVirtualDestination?(inputs: VirtualDestinationInputs): TargetTranslation;

  /** What a Workload needs that ServiceDependencies, AccessLogRecords or WasmDeployments select. */
  translateWorkload?(inputs: SelectedWorkloadInputs): TargetTranslation;

  /** What such meshes would refuse in how a TrafficPolicy says which requests it is for, whatever Destinations it selects. */
  requestFindings?(spec: TrafficPolicySpec): readonly Finding[];
  /** What such meshes would refuse in the rules of a TrafficPolicy, whatever they refer to and whatever Destinations it selects. */
  ruleFindings?(rules: TrafficPolicyRules, context: Pick<TranslationContext, "settings">): readonly Finding[];
  /** What such meshes would refuse in a VirtualMesh, as warnings: the rest of it is in force. */
  virtualMeshFindings?(virtualMesh: VirtualMesh): readonly Finding[];
  /** What such meshes would refuse in a VirtualDestination, or take otherwise than it is written. */
  virtualDestinationFindings?(spec: VirtualDestinationSpec): readonly Finding[];
  /** What the rules of a TrafficPolicy refer to beside the Destination that they are in force on. */
  referencesOf?(rules: TrafficPolicyRules): readonly PolicyReference[];
  /**
   * Which of the TrafficPolicies that select a Destination are in force on it, and which conflict; in the same order. Absent: all of them
   * are in force, and `translateDestination` reports what it does not support.
   */
  policyVerdicts?(target: PolicyTarget): readonly PolicyEvaluation[];
  /** The same for a VirtualDestination's host. Absent: none of them is in force. */
  virtualPolicyVerdicts?(target: VirtualPolicyTarget): readonly PolicyEvaluation[];
  /** Whether a part of a Destination's pods can be a target of traffic. */
  readonly hasSubsets: boolean;

  /** Federation between meshes of this type. */
  readonly federation?: MeshFederation;
  /** The objects by which users configure such a mesh themselves, about the hosts of Destinations. */
  readonly userObjects?: UserObjects;
  /** The objects by which users of such a mesh say themselves who may call, and where those are about the whole mesh. */
  readonly userAccess?: {
    readonly kind: Kind;
    /** Further kinds on which it depends whom those let in. */
    readonly others: readonly Kind[];
    rootNamespaceOf(mesh: Mesh): string;
  };
  /** The object in which such a mesh keeps settings that its translation reads. */
  readonly meshConfig?: MeshConfigObject;
  /** The trust domain in the identities of its workloads; undefined when the mesh names none, or an invalid one. */
  trustDomainOf?(mesh: Mesh): TrustDomain | undefined;

  /** What the policies in force on a Destination come to, each value with the policy that sets it; undefined for what no policy is about. */
  effectOf?(inputs: DestinationInputs): DestinationEffect | undefined;
  /** Whether a Destination of such a mesh lets a request in. Whatever is not understood is UNKNOWN, never ALLOWED. */
  accessVerdict?(facts: AccessFacts, question: AccessQuery): AccessVerdict;
  /** The policies that a failure of an output of one kind is reported on; undefined for kinds whose parents are those policies. */
  policiesBehind?(inputs: DestinationInputs, outputKind: string): readonly ResourceRef[] | undefined;
  /** Kinds of outputs without which all callers are allowed: when several targets claim one name, one of them is always written. */
  readonly accessKinds?: readonly string[];
}

/** Something beside the Destination that a policy is about. */
export type PolicyReference =
  /** A Kubernetes Service; `isPart`: some of its pods only, for which it needs a subset. */
  | { readonly service: ClusterObjectRef; readonly isPart?: boolean }
  /** A VirtualDestination; `isPart` the same of the pods behind it. */
  | { readonly virtualDestination: ObjectRef; readonly isPart?: boolean };

/** Finds what policies refer to. */
export interface ReferenceLookup {
  destinationOf(service: ClusterObjectRef): Destination | undefined;
  /** `clusterName` is that of the policy which names it. */
  virtualDestinationOf(ref: ClusterObjectRef): VirtualDestination | undefined;
}

/** TrafficPolicies that select a target. */
interface ContendingPolicies {
  /** In order of precedence. */
  readonly policies: readonly TrafficPolicy[];
  /** By policy, what stands for it where it can't be in force: it was last accepted, and selects the target as well. */
  readonly lastAccepted: ReadonlyMap<TrafficPolicy, TrafficPolicy>;
}

/** A Destination with the TrafficPolicies that select it. */
export interface PolicyTarget
  extends ContendingPolicies,
    Pick<DestinationInputs, "destination" | "mesh" | "federatedTo" | "userObjects" | "translationContext"> {
  readonly references: ReferenceLookup;
}

/** A VirtualDestination in force with the TrafficPolicies that select it. */
export interface VirtualPolicyTarget
  extends ContendingPolicies,
    Pick<VirtualDestinationInputs, "virtualDestination" | "exports" | "translationContext"> {
  readonly spec: VirtualDestinationSpec;
}

/** What was found of one policy on one target. */
export interface PolicyEvaluation {
  /** One of the target's. */
  readonly policy: TrafficPolicy;
  /** As it is in force there: itself, its last accepted form, or what is left of either; undefined: not at all. */
  readonly inForce: TrafficPolicy | undefined;
  readonly findings: readonly Finding[];
}

/** How services of a mesh are made known to other meshes of its type. */
export interface MeshFederation {
  /** Why a service can't be federated although its VirtualMesh says so; a WARNING where it can't be to some meshes only. */
  refusals(destination: Destination, federation: AppliedFederation, meshOf: MeshLookup): readonly Finding[];
  /** Why a service is not federated although nothing is wrong with its VirtualMesh, as warnings; none where it is. */
  withheld?(destination: Destination, federation: AppliedFederation): readonly Finding[];
  /** Those of the meshes a service is federated to that can resolve its host name. */
  meshesThatResolve(federation: AppliedFederation, meshOf: MeshLookup): readonly ObjectRef[];
  /**
   * How many objects a federated service needs in its own cluster beside those that lead callers on to its pods, which each of them has. Asked
   * before it is known what else is federated.
   */
  objectsAtHome?(destination: Destination, federation: AppliedFederation): number;
  /** The gateways through which other meshes reach one. */
  eastWestGateways(inputs: GatewaySelectionInputs): GatewaySelection;
  /** The Services that discovery noted on a mesh as its gateways. */
  notedGateways(mesh: Mesh): readonly ClusterObjectRef[];
  /** `spec` without the gateways that discovery noted: a change of them does not affect the translation of each Destination. */
  withoutNotedGateways(spec: MeshSpec): MeshSpec;
}

/** Where a Destination is federated to, and how. */
export type AppliedFederation = NonNullable<DestinationStatus["appliedFederation"]>;

/** Finds a mesh, as attached: with its gateways in its status. */
export type MeshLookup = (ref: Partial<ObjectRef>) => Mesh | undefined;

/** What the gateways of one mesh are selected from. */
export interface GatewaySelectionInputs {
  readonly mesh: Mesh;
  readonly virtualMesh: VirtualMesh;
  /** Those of the mesh, in key order. Results are kept for each list: pass the same one while it does not change. */
  readonly destinations: readonly Destination[];
  /** Any Kubernetes service that is known, in whatever mesh or in none: a gateway need not have a sidecar. */
  serviceIn(ref: ClusterObjectRef): Destination | undefined;
  /** By `keyOf` the Destinations that were its gateways before. */
  readonly inUse: readonly string[];
}

/** The gateways of one mesh. */
export interface GatewaySelection {
  readonly gateways: readonly AppliedEastWestIngressGateway[];
  /** On (VirtualMesh, Mesh): the gateways that were passed over, and those that nobody can reach yet. */
  readonly reports: readonly Report[];
}

/** The kinds of objects by which users configure a mesh themselves. */
export interface UserObjects {
  readonly kinds: readonly Kind<UserObject>[];
  /** The hosts that an object is about, in full. */
  hostsOf(object: UserObject, clusterDomains: ReadonlyMap<string, string>): readonly string[];
}

/** The one object in which a mesh keeps its settings. */
export interface MeshConfigObject {
  readonly kind: Kind;
  refOf(mesh: Mesh): ClusterObjectRef;
}
