import {
  AccessLogRecord,
  type Destination,
  IssuedCertificate,
  Mesh,
  PeerAuthentication,
  Pod,
  Secret,
  type VirtualMesh,
  Workload,
} from "@isthmus/api";
import { equalJson, exactly, internList, keyOf, keyOfResource, matchesLabels, type Resource, type Snapshot } from "@isthmus/core";
import { derived, type RowSources } from "../incremental/derived.ts";
import { inputKind, inputTable, join, unionOf } from "../incremental/join.ts";
import { entriesOf, type MapEntry } from "../incremental/lookupTable.ts";
import type { DestinationInputs, FailoverPeer, MeshInputs, TranslationContext, VirtualMeshInputs } from "../meshes/inputs.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import { generatedRootName } from "../policy/generatedRoots.ts";
import { serviceKeyOf } from "../policy/hosts/hostnames.ts";
import { byMesh, byPodLabel, bySelector, byService, destinationsByCluster } from "../policy/indexes.ts";
import { podNetworkOf } from "../policy/podNetwork.ts";
import { meshCluster, type PolicyLimit, policyScopeFrom } from "../policy/policyScope.ts";
import type { AttachedPolicies } from "./attachedPolicies.ts";
import { closedAccessInputs, closedAccessJoins, guardedKey, noClosedAccess } from "./closedAccess.ts";
import {
  type AttachedSources,
  attachedPoliciesJoin,
  attachedPoliciesTable,
  destinations,
  sortedUniqueKeys,
  subsetPolicies,
  subsetUsersIn,
  supports,
  virtualDestinations,
} from "./destinationJoins.ts";
import {
  alikeAmong,
  byAttachedTrustDomain,
  byCallers,
  byPlaceOfTrust,
  byTakenForOneAnother,
  byTrustDomain,
  isSameTrust,
  trustPlaceOf,
} from "./federation/callingMeshes.ts";
import { byFailoverName, failoverPeersOf, isSameEntrance, isSameFromOutside, isSameSpec } from "./federation/failoverPeers.ts";
import { virtualIpOf } from "./federation/virtualIps.ts";
import { acceptedByKey, meshKeysOf } from "./federation/virtualMeshes.ts";
import { distinctRoutes, gatewayRoutes } from "./gatewayRoutes.ts";
import type { AttachedMesh } from "./meshes.ts";
import { byPeerAuthenticationPlace, ownPeerAuthentications, rootPlaceOf } from "./peerAuthentications.ts";
import { isSameAccess, isSameOnPods, podSharersOf } from "./podSharers.ts";
import { referredServiceKeys } from "./policyReferences.ts";
import { requiredSubsetsOf, type SubsetUsers } from "./requiredSubsets.ts";
import { userAccessJoin, usersOwn } from "./userAccess.ts";
import { recordsIn } from "./workloads/accessLogRecords/matching.ts";
import { selectedPods } from "./workloads/podSelections.ts";

// The tables that inputs are looked up in.
const attachedMeshes = inputTable(
  ({ attachment }: AttachedSources) => attachment.meshes,
  ({ key }) => key,
);
const displacedIps = inputTable(({ attachment }: AttachedSources) => entriesOf(attachment.virtualIps.losers), entryKey);
const memberships = inputTable(({ attachment }: AttachedSources) => entriesOf(attachment.membership.virtualMeshOf), entryKey);
const virtualMeshes = inputTable(({ attachment }: AttachedSources) => entriesOf(acceptedByKey(attachment.membership)), entryKey);
const offlineClusters = inputTable(({ attachment }: AttachedSources) => entriesOf(attachment.offline), entryKey);
const meshes = inputKind<AttachedSources, Mesh>(Mesh);
const workloads = inputKind<AttachedSources, Workload>(Workload);
const secrets = inputKind<AttachedSources, Secret>(Secret);
const issuedCertificates = inputKind<AttachedSources, IssuedCertificate>(IssuedCertificate);

// An input, and the start of other joins.
const mesh = join({ from: destinations, key: byMesh, to: attachedMeshes, select: ({ view }) => view });

const ofCilium = join({ from: mesh.source, key: byMeshWithCilium, to: memberships, select: entryValue<VirtualMesh>, isSame: isSameJoined });

const namesakes = join({ from: destinations, key: byFailoverName, to: destinations, index: byFailoverName, isSame: isSameFromOutside });

const callingMeshes = join({ from: attachedPoliciesJoin.source, key: byCallers, to: meshes, index: byPlaceOfTrust, isSame: isSameTrust });

const workloadsOfDestination = join({ from: destinations, key: bySelector, to: workloads, index: byPodLabel });
const podSharers = join({
  from: workloadsOfDestination.source,
  key: byPodLabel,
  to: destinations,
  index: bySelector,
  isSame: isSameOnPods,
});

const alike = { to: attachedMeshes, index: byAttachedTrustDomain, select: trustPlaceOf, isSame: equalJson };

/** The joins of a Destination. An input is one join here, and one member below. */
const destinationJoins = {
  attachedPolicies: attachedPoliciesJoin,
  mesh,
  subsetPolicies,
  supports,
  virtualMesh: join({ from: mesh.source, to: memberships, select: entryValue<VirtualMesh>, isSame: isSameKey }),
  joinedBy: ofCilium,
  ownGateways: join({ from: destinations, key: byMesh, to: attachedMeshes, select: gatewaysWithCilium }),
  gatewayWorkloads: join({
    from: mesh.source,
    key: byGatewayPods,
    to: workloads,
    index: byPodLabel,
    isShared: true,
    isSame: (before, after) => equalJson(before.spec, after.spec),
  }),
  gatewayRoutes,
  gateways: join({ from: destinations, key: byMesh, when: isFederated, to: attachedMeshes, select: ({ gateways }) => gateways }),
  namesakes,
  meshesOfNamesakes: join({ from: namesakes.source, key: byMesh, to: attachedMeshes, isSame: isSameEntrance }),
  workloadsOfNamesakes: join({ from: namesakes.source, key: bySelector, to: workloads, index: byPodLabel, isSame: isSameSpec }),
  guardsOfNamesakes: join({ from: namesakes.source, to: attachedPoliciesTable, select: guardedKey }),
  offlineNamesakes: join({ from: namesakes.source, key: destinationsByCluster, to: offlineClusters }),
  displacedIp: join({ from: destinations, key: byService, when: isFederated, to: displacedIps, select: ({ value }) => value }),
  workloads: workloadsOfDestination,
  podSharers,
  policiesOfSharers: join({ from: podSharers.source, to: attachedPoliciesTable, isSame: isSameAccess }),
  pods: join({
    from: attachedPoliciesJoin.source,
    to: inputKind<AttachedSources, Pod>(Pod),
    matching: selectedPods,
    select: podNetworkOf,
    isSame: equalJson,
  }),
  callingMeshes,
  userAccess: userAccessJoin,
  alikeMeshes: join({ from: callingMeshes.source, key: byTrustDomain, ...alike }),
  alikeByAlias: join({ from: mesh.source, key: byTakenForOneAnother, ...alike }),
  referred: join({ from: attachedPoliciesJoin.source, key: byReferredServices, to: destinations, index: byService }),
  virtualDestinations,
  ownPeerAuthentications,
  rootPeerAuthentications: join({
    from: mesh.source,
    key: ({ view }: AttachedMesh) => rootPlaceOf(view),
    to: inputKind<AttachedSources, PeerAuthentication>(PeerAuthentication),
    index: byPeerAuthenticationPlace,
    isShared: true,
  }),
  meshConfig: unionOf(
    meshTranslators.flatMap(({ type, meshConfig }) => {
      if (meshConfig === undefined) return [];
      const key = ({ view }: AttachedMesh) => (view.spec?.[type] === undefined ? NONE : [keyOf(meshConfig.refOf(view))]);
      return [join({ from: mesh.source, key, to: inputKind<AttachedSources, Resource>(meshConfig.kind) })];
    }),
  ),
};

/** The inputs of each Destination; of none that is in no mesh that is known. What is made for this run is taken from before where it says the same. */
export const destinationInputs = derived({
  from: destinations,
  context: ({ translationContext }) => translationContext,
  joins: destinationJoins,
  make: (known, { lookup, context: translationContext, before }): DestinationInputs | undefined => {
    const [standing] = lookup("attachedPolicies");
    const [mesh] = lookup("mesh");
    if (standing === undefined || mesh === undefined) return undefined;
    const { trafficPolicies, accessPolicies, heldAccess, federatedTo, userObjects } = standing;
    const service = known.spec?.kubeService?.ref;
    const virtualIp = isFederated(known) && service !== undefined ? virtualIpOf(service, lookup("displacedIp")[0]) : undefined;
    // Joins that continue from one that found nothing are not asked, nor those of Cilium elsewhere: a first translation makes each row with them all.
    const hasCilium = mesh.spec?.cilium !== undefined;
    const isGuarded = accessPolicies.length + heldAccess.length > 0;
    const workloads = workloadsAmong(lookup("workloads"), known);
    return {
      destination: withSubsets(known, subsetUsersIn(known, lookup), { translationContext, before: before?.destination }),
      mesh,
      trafficPolicies,
      accessPolicies,
      heldAccess,
      callingMeshes: internList(exactly(lookup("callingMeshes"))),
      alikeMeshes: alikeAmong(
        isGuarded ? [...lookup("alikeMeshes"), ...lookup("alikeByAlias")] : NONE,
        isGuarded ? lookup("virtualMesh")[0] : undefined,
        before?.alikeMeshes,
      ),
      podSharers: isGuarded
        ? podSharersOf(known, workloads, { destinations: lookup("podSharers"), policies: lookup("policiesOfSharers") }, before?.podSharers)
        : NONE,
      userAccess: isGuarded ? internList(exactly(usersOwn(lookup("userAccess")))) : NONE,
      virtualMesh: lookup("virtualMesh")[0],
      federatedTo,
      joinedBy: hasCilium ? lookup("joinedBy")[0] : undefined,
      ownGateways: hasCilium ? (lookup("ownGateways")[0] ?? NONE) : NONE,
      gatewayWorkloads: hasCilium ? lookup("gatewayWorkloads") : NONE,
      gatewayRoutes: hasCilium ? distinctRoutes(lookup("gatewayRoutes")) : NONE,
      gateways: lookup("gateways")[0] ?? NONE,
      failoverPeers: failoverPeersAmong(lookup, { known, mesh, before: before?.failoverPeers }),
      virtualIp: before !== undefined && equalJson(before.virtualIp, virtualIp) ? before.virtualIp : virtualIp,
      referred: trafficPolicies.length === 0 ? NONE : othersReferred(lookup("referred"), known),
      virtualDestinations: trafficPolicies.length === 0 ? NONE : lookup("virtualDestinations"),
      workloads,
      pods: lookup("pods"),
      meshConfig: lookup("meshConfig")[0],
      userObjects,
      peerAuthentications: together(lookup("ownPeerAuthentications"), lookup("rootPeerAuthentications")),
      translationContext,
    };
  },
});

/** Those of two lists, each once; one of them as it is where the other is empty. */
function together(own: readonly PeerAuthentication[], ofRoot: readonly PeerAuthentication[]): readonly PeerAuthentication[] {
  if (own.length === 0 || ofRoot.length === 0 || own[0] === ofRoot[0]) return own.length === 0 ? ofRoot : own;
  return internList([...own, ...ofRoot]);
}

type DestinationLookup = RowSources<typeof destinationJoins, unknown, unknown>["lookup"];

function failoverPeersAmong(
  lookup: DestinationLookup,
  own: { readonly known: Destination; readonly mesh: Mesh; readonly before: readonly FailoverPeer[] | undefined },
): readonly FailoverPeer[] {
  const namesakes = lookup("namesakes");
  if (namesakes.length === 0) return NONE;
  return failoverPeersOf(own.known, own.mesh, {
    namesakes,
    meshes: lookup("meshesOfNamesakes"),
    workloads: lookup("workloadsOfNamesakes"),
    offline: new Set(lookup("offlineNamesakes").map(({ key }) => key)),
    guarded: new Set(lookup("guardsOfNamesakes")),
    before: own.before,
  });
}

const membership = join({ from: meshes, to: memberships });
const virtualMesh = join({ from: membership.source, key: byVirtualMesh, to: virtualMeshes, select: entryValue<VirtualMesh> });

/** The inputs of each Mesh. */
export const meshInputs = derived({
  from: meshes,
  context: ({ translationContext }) => translationContext,
  joins: {
    virtualMesh,
    // Each mesh of a VirtualMesh reads all of them.
    meshes: join({ from: virtualMesh.source, key: byMember, to: meshes, isShared: true }),
    rootSecrets: join({ from: virtualMesh.source, key: byRootSecret, to: secrets, index: bySecretName }),
    gateways: join({ from: meshes, to: attachedMeshes, select: ({ gateways }) => gateways }),
    workloads: join({ from: meshes, to: workloads, index: byMesh }),
    ...closedAccessJoins,
    issued: join({ from: meshes, key: byIssuedCertificate, to: issuedCertificates }),
    offline: join({ from: meshes, key: byCluster, to: offlineClusters }),
    accessLogRecords: join({ from: meshes, to: inputKind<AttachedSources, AccessLogRecord>(AccessLogRecord), matching: recordsIn }),
  },
  make: (mesh, { lookup, context: translationContext }): MeshInputs => {
    const [virtualMesh] = lookup("virtualMesh");
    const scope = policyScopeFrom(translationContext);
    const mayReach = ({ clusterName }: PolicyLimit) => clusterName === undefined || clusterName === meshCluster(mesh);
    const accessLogRecords = lookup("accessLogRecords").filter((record) => mayReach(scope.limitOf(record)));
    if (virtualMesh === undefined) {
      return {
        mesh,
        virtualMesh,
        meshes: NONE,
        gateways: NONE,
        workloads: NONE,
        ...noClosedAccess,
        rootSecret: undefined,
        issued: undefined,
        isOffline: false,
        accessLogRecords,
        translationContext,
      };
    }
    return {
      mesh,
      virtualMesh,
      meshes: lookup("meshes"),
      gateways: lookup("gateways")[0] ?? NONE,
      workloads: lookup("workloads"),
      ...closedAccessInputs(virtualMesh, lookup),
      rootSecret: secretOfPlane(lookup("rootSecrets"), translationContext),
      issued: lookup("issued")[0],
      isOffline: lookup("offline").length > 0,
      accessLogRecords,
      translationContext,
    };
  },
});

/** The inputs of each accepted VirtualMesh. */
export const virtualMeshInputs = derived({
  from: virtualMeshes,
  context: ({ translationContext }) => translationContext,
  joins: {
    meshes: join({ from: virtualMeshes, key: byMember, to: meshes }),
    rootSecrets: join({ from: virtualMeshes, key: byRootSecret, to: secrets, index: bySecretName }),
  },
  make: ({ value: virtualMesh }, { lookup, context: translationContext }): VirtualMeshInputs => ({
    virtualMesh,
    meshes: lookup("meshes"),
    rootSecret: secretOfPlane(lookup("rootSecrets"), translationContext),
    translationContext,
  }),
});

function entryKey({ key }: MapEntry<unknown>): string {
  return key;
}

function entryValue<V>({ value }: MapEntry<V>): V {
  return value;
}

function isSameKey(before: VirtualMesh, after: VirtualMesh): boolean {
  return before === after || keyOfResource(before) === keyOfResource(after);
}

/** Of the meshes that a VirtualMesh joins alone. */
function isSameJoined(before: VirtualMesh, after: VirtualMesh): boolean {
  return isSameKey(before, after) && equalJson(before.spec?.meshes, after.spec?.meshes);
}

// What only Cilium asks for is looked up only where it is.
function byMeshWithCilium({ key, view }: AttachedMesh): readonly string[] {
  return view.spec?.cilium === undefined ? NONE : [key];
}

function gatewaysWithCilium({ view, gateways }: AttachedMesh): AttachedMesh["gateways"] {
  return view.spec?.cilium === undefined ? NONE : gateways;
}

/** Meshes by a label of the pods of each of their gateways. */
function byGatewayPods(mesh: AttachedMesh): readonly string[] {
  return sortedUniqueKeys(gatewaysWithCilium(mesh).flatMap(({ destination }) => bySelector(destination)));
}

function isFederated({ status }: Destination): boolean {
  return status?.appliedFederation !== undefined;
}

/** Attached policies by the Services to which they refer, in key order. */
function byReferredServices({ trafficPolicies }: AttachedPolicies): readonly string[] {
  // Most Destinations have none, and an index asks all.
  return trafficPolicies.length === 0 ? NONE : sortedUniqueKeys(trafficPolicies.flatMap(referredServiceKeys));
}

function byVirtualMesh({ value }: MapEntry<VirtualMesh>): readonly string[] {
  return [keyOfResource(value)];
}

function byMember({ value }: MapEntry<VirtualMesh>): readonly string[] {
  return meshKeysOf(value);
}

function byCluster(mesh: Mesh): readonly string[] {
  return [meshCluster(mesh)];
}

/** Meshes by the certificate that their agents report of them. */
function byIssuedCertificate(mesh: Mesh): readonly string[] {
  const { agentNamespace: namespace } = mesh.spec?.agentInfo ?? {};
  return namespace === undefined ? NONE : [keyOf({ name: mesh.metadata.name, namespace, clusterName: meshCluster(mesh) })];
}

/** VirtualMeshes by the name of the Secret with their generated root. */
function byRootSecret({ value }: MapEntry<VirtualMesh>): readonly string[] {
  return [generatedRootName(value)];
}

/** Secrets of the management cluster by name. */
function bySecretName({ metadata: { name, clusterName = "" } }: Secret): readonly string[] {
  return clusterName === "" ? [name] : NONE;
}

function secretOfPlane(secrets: readonly Secret[], { namespace }: TranslationContext): Secret | undefined {
  return secrets.find(({ metadata }) => metadata.namespace === namespace);
}

/** The Destination with the subsets that traffic shifts need of it. */
function withSubsets(
  known: Destination,
  users: SubsetUsers,
  { translationContext, before }: { readonly translationContext: TranslationContext; readonly before: Destination | undefined },
): Destination {
  const requiredSubsets = requiredSubsetsOf(users, translationContext.ages);
  if (requiredSubsets === undefined) return known;
  const isAsBefore = before !== undefined && before.spec === known.spec && before.metadata === known.metadata;
  const status = { ...known.status, requiredSubsets };
  return isAsBefore && equalJson(before.status, status) ? before : { ...known, status };
}

/** The Destinations that the policies in force on one refer to, but for itself; the last of each Service. */
function othersReferred(referred: readonly Destination[], known: Destination): readonly Destination[] {
  if (referred.length === 0) return NONE;
  const own = serviceKeyOf(known);
  const services = referred.map(serviceKeyOf);
  return referred.filter((_, i) => services[i] !== own && services[i] !== services[i + 1]);
}

/** The Workloads that a Destination's Service selects. */
export function workloadsBehind(destination: Destination, inputs: Snapshot): readonly Workload[] {
  const [pair] = bySelector(destination);
  return pair === undefined ? NONE : workloadsAmong(inputs.of(Workload).where(byPodLabel, pair), destination);
}

/** Those of the Workloads with one label of a Destination's selector that have the others too. */
function workloadsAmong(candidates: readonly Workload[], { spec }: Destination): readonly Workload[] {
  const { workloadSelectorLabels = {} } = spec?.kubeService ?? {};
  if (Object.keys(workloadSelectorLabels).length < 2) return candidates;
  return exactly(candidates.filter((workload) => matchesLabels(workloadSelectorLabels, workload.spec?.kubernetes?.podLabels)));
}

// One list for all that have nothing.
const NONE: readonly never[] = [];
