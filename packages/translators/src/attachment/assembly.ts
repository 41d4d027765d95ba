import {
  type AccessPolicy,
  type Destination,
  Mesh,
  OsmMeshConfig,
  Secret,
  VirtualDestination,
  type VirtualMesh,
  Workload,
} from "@isthmus/api";
import {
  type ClusterObjectRef,
  type Collection,
  equalJson,
  exactly,
  keyOf,
  keyOfResource,
  matchesLabels,
  type Snapshot,
} from "@isthmus/core";
import type { DestinationInputs, MeshInputs, VirtualMeshInputs } from "../inputs.ts";
import { serviceKeyOf } from "../networking/istio/hostnames.ts";
import { virtualDestinationKeys } from "../networking/istio/routeContext.ts";
import { remembered } from "../remembered.ts";
import { sharedList } from "../sharedLists.ts";
import { userNameOf } from "../userResources.ts";
import type { Attachment, AttachmentStep } from "./attachment.ts";
import { callingMeshes } from "./callingMeshes.ts";
import { byMesh, byPodLabel, byService, podLabelKey } from "./indexes.ts";
import { referredServices, referredVirtualDestinations } from "./policyReferences.ts";
import { requiredSubsetsOf } from "./requiredSubsets.ts";
import type { Standing } from "./standings.ts";
import { virtualIpOf } from "./virtualIps.ts";
import { meshKey, meshKeysOf } from "./virtualMeshes.ts";

/** What the inputs of targets are assembled from. */
export interface AssemblySources {
  readonly step: AttachmentStep;
  readonly attachment: Attachment;
}

/**
 * The inputs of one Destination, by its key; undefined when it is in no mesh that is known. What is made for this run is taken from
 * `before` where it says the same.
 */
export function destinationInputs(
  key: string,
  { step, attachment }: AssemblySources,
  before: DestinationInputs | undefined,
): DestinationInputs | undefined {
  const { surroundings } = step;
  const known = attachment.known.row(key);
  const standing = attachment.standings.row(key);
  const attachedMesh = known?.spec?.mesh === undefined ? undefined : attachment.meshes.row(meshKey(known.spec.mesh));
  const mesh = attachedMesh?.face;
  if (known === undefined || standing === undefined || mesh === undefined) return undefined;
  const { trafficPolicies, accessPolicies, heldAccess, federatedTo, userObjects } = standing;
  const service = known.spec?.kubeService?.ref;
  const isFederated = known.status?.appliedFederation !== undefined;
  const referred = referredBy(standing, known, { step, attachment });
  const virtualIp = isFederated && service !== undefined ? virtualIpOf(service, attachment.virtualIps) : undefined;
  return {
    destination: withSubsets(known, { step, attachment }, before?.destination),
    mesh,
    trafficPolicies,
    accessPolicies,
    heldAccess,
    callingMeshes: sharedList(callingMeshes(formsOf(standing), step.inputs)),
    virtualMesh: attachment.membership.virtualMeshOf.get(keyOfResource(mesh)),
    federatedTo,
    gateways: isFederated ? (attachedMesh?.gateways ?? NONE) : NONE,
    virtualIp: before !== undefined && equalJson(before.virtualIp, virtualIp) ? before.virtualIp : virtualIp,
    referred: referred.referred,
    virtualDestinations: referred.virtualDestinations,
    workloads: workloadsBehind(known, step.inputs),
    osmMeshConfig: osmMeshConfigOf(mesh, step),
    userObjects,
    surroundings,
  };
}

/** The AccessPolicies in each form in which they may be in force. */
function formsOf({ accessPolicies, heldAccess }: Standing): readonly AccessPolicy[] {
  return heldAccess.length === 0 ? accessPolicies : [...accessPolicies, ...heldAccess.flatMap(({ form }) => form ?? [])];
}

/** The inputs of one Mesh, by its key; undefined when it is gone. */
export function meshInputs(key: string, sources: AssemblySources): MeshInputs | undefined {
  const { inputs, surroundings } = sources.step;
  const { membership, meshes } = sources.attachment;
  const mesh = inputs.of(Mesh).row(key);
  const virtualMesh = membership.virtualMeshOf.get(key);
  if (mesh === undefined) return undefined;
  if (virtualMesh === undefined) {
    return { mesh, virtualMesh, meshes: NONE, gateways: NONE, workloads: NONE, rootSecret: undefined, surroundings };
  }
  return {
    mesh,
    virtualMesh,
    meshes: meshesOf(virtualMesh, sources),
    gateways: meshes.row(key)?.gateways ?? NONE,
    workloads: inputs.of(Workload).where(byMesh, key),
    rootSecret: rootSecretOf(virtualMesh, sources),
    surroundings,
  };
}

/** The inputs of an accepted VirtualMesh. */
export function virtualMeshInputs(virtualMesh: VirtualMesh, sources: AssemblySources): VirtualMeshInputs {
  const { surroundings } = sources.step;
  return { virtualMesh, meshes: meshesOf(virtualMesh, sources), rootSecret: rootSecretOf(virtualMesh, sources), surroundings };
}

/** The Destination with the subsets that traffic shifts need of it. */
function withSubsets(known: Destination, { attachment, step }: AssemblySources, before: Destination | undefined): Destination {
  const service = serviceKeyOf(known);
  const requiredSubsets = service === undefined ? undefined : requiredSubsetsOf(service, attachment, step.surroundings.ages);
  if (requiredSubsets === undefined) return known;
  const isAsBefore = before !== undefined && before.spec === known.spec && before.metadata === known.metadata;
  const status = { ...known.status, requiredSubsets };
  return isAsBefore && equalJson(before.status, status) ? before : { ...known, status };
}

function meshesOf(virtualMesh: VirtualMesh, { step }: AssemblySources): readonly Mesh[] {
  return membersAmong(step.inputs.of(Mesh))(virtualMesh);
}

// Each mesh of a VirtualMesh reads all of them: one list serves all.
const membersAmong = remembered((meshes: Collection<Mesh>) =>
  remembered((virtualMesh: VirtualMesh): readonly Mesh[] => exactly(meshKeysOf(virtualMesh).flatMap((key) => meshes.row(key) ?? []))),
);

function rootSecretOf({ metadata }: VirtualMesh, { step }: AssemblySources): Secret | undefined {
  return step.inputs.of(Secret).get({ name: userNameOf(metadata), namespace: step.surroundings.namespace, clusterName: "" });
}

function osmMeshConfigOf({ spec }: Mesh, { inputs }: AttachmentStep): OsmMeshConfig | undefined {
  if (spec?.osm === undefined) return undefined;
  const { namespace = "", cluster = "" } = spec.osm.installation ?? {};
  // OSM knows its settings under this name alone.
  return inputs.of(OsmMeshConfig).get({ name: "osm-mesh-config", namespace, clusterName: cluster });
}

/** What the policies in force refer to, beside the Destination itself. */
function referredBy(
  { trafficPolicies }: Standing,
  destination: Destination,
  { step, attachment }: AssemblySources,
): Pick<DestinationInputs, "referred" | "virtualDestinations"> {
  const services = new Map<string, ClusterObjectRef>();
  const virtual = new Set<string>();
  for (const policy of trafficPolicies) {
    for (const service of referredServices(policy)) services.set(keyOf(service), service);
    for (const ref of referredVirtualDestinations(policy)) for (const key of virtualDestinationKeys(ref)) virtual.add(key);
  }
  services.delete(serviceKeyOf(destination) ?? "");
  if (services.size === 0 && virtual.size === 0) return NOTHING_REFERRED;
  return {
    referred: inKeyOrder(services).flatMap((ref) => attachment.known.where(byService, keyOf(ref)).slice(-1)),
    virtualDestinations: [...virtual].sort().flatMap((key) => step.inputs.of(VirtualDestination).row(key) ?? []),
  };
}

/** The Workloads that a Destination's Service selects. */
export function workloadsBehind({ spec }: Destination, inputs: Snapshot): readonly Workload[] {
  const { ref, workloadSelectorLabels = {} } = spec?.kubeService ?? {};
  const [first, ...others] = Object.entries(workloadSelectorLabels);
  if (ref === undefined || first === undefined) return NONE;
  const candidates = inputs.of(Workload).where(byPodLabel, podLabelKey(ref, ...first));
  if (others.length === 0) return candidates;
  return exactly(candidates.filter((workload) => matchesLabels(workloadSelectorLabels, workload.spec?.kubernetes?.podLabels)));
}

/** Destinations by one label pair, in their place, that their Service selects workloads by. */
export function bySelector({ spec }: Destination): readonly string[] {
  const { ref, workloadSelectorLabels = {} } = spec?.kubeService ?? {};
  const [first] = Object.entries(workloadSelectorLabels);
  return ref === undefined || first === undefined ? [] : [podLabelKey(ref, ...first)];
}

// One list for all that have nothing.
const NONE: readonly never[] = [];
const NOTHING_REFERRED = { referred: NONE, virtualDestinations: NONE };

function inKeyOrder(refs: ReadonlyMap<string, ClusterObjectRef>): readonly ClusterObjectRef[] {
  return refs.size < 2 ? [...refs.values()] : [...refs.keys()].sort().flatMap((key) => refs.get(key) ?? []);
}
