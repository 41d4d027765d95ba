import { type CiliumInstallation, VirtualMesh, type WriteMode } from "@isthmus/api";
import {
  type AnyResource,
  type Condition,
  type CooperativeTask,
  type Delta,
  displayName,
  equalJson,
  formatRef,
  type JsonObject,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import { changedStatuses, type Statuses } from "@isthmus/translators";
import { keepUnreported } from "../../apply/keepUnreported.ts";
import { malformedStatus } from "../../apply/malformedStatus.ts";
import type { DesiredStatus } from "../../apply/statusWriter.ts";
import type { Informer } from "../../informer/informer.ts";
import type { SnapshotStore } from "../../snapshots/snapshotStore.ts";
import type { DeliveryLog } from "../delivery.ts";
import type { ServerKinds } from "../serverOptions.ts";
import type { TrustPhases } from "../trust/trustPhases.ts";
import { certificateValidity } from "./certificateExpiring.ts";
import { type ClusterStatusInputs, clusterLagOf, clusterStatus, isSameClusterStatus } from "./clusterStatuses.ts";
import { isExcluded } from "./endpointsExcluded.ts";
import { joinTokenValidities } from "./joinTokenExpiring.ts";
import { phaseTimes, plainPhases } from "./phaseTimes.ts";

/** Finds the objects of the management cluster whose status may have to be written, at the cost of what changed. */
export interface StatusUpdates {
  /** Tells what changed in the management cluster: somebody may have edited a status, or created what should have one. */
  observed(delta: Delta): void;
  /** Everything is to be looked at once more. */
  startOver(): void;
  /**
   * The statuses that objects should have which changed, or of which something else is to be said, since the last call; those of
   * discovered objects, which are many, behind those of users'.
   */
  next(sources: StatusSources): CooperativeTask<DesiredStatus[]>;
}

export interface StatusSources {
  /** Undefined before there was a translation. */
  readonly statuses: Statuses | undefined;
  readonly resumed: ReadonlyMap<string, string>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface StatusUpdatesOptions {
  /** Name of the Deployments of agents. */
  readonly agentName: string;
  readonly delivery: DeliveryLog;
  /** Since when a cluster has been late, in milliseconds since 1970. */
  readonly lateSince: (clusterName: string) => number | undefined;
  /** Why a cluster cannot be connected to. */
  readonly problemIn: (clusterName: string) => string | undefined;
  /** What may be written in a registered cluster. */
  readonly modeOf: (registration: Resource) => WriteMode;
  /** Clusters whose endpoints are left out; undefined while that is not known yet. */
  readonly excluded: () => ReadonlySet<string> | undefined;
  /** What the server says of itself, and of which object. */
  readonly own: { readonly ref: ResourceRef; readonly conditions: () => readonly Condition[] };
  /** The conditions of VirtualMeshes about certificates, by `namespace/name`. */
  readonly expiring: () => ReadonlyMap<string, readonly Condition[]>;
  /** How far the meshes of VirtualMeshes are from their roots, by `namespace/name`. */
  readonly phases: () => ReadonlyMap<string, TrustPhases>;
  /** Cilium in each cluster that has it beside a mesh. */
  readonly cilium: () => ReadonlyMap<string, CiliumInstallation>;
  readonly trustDomains: () => ReadonlyMap<string, readonly string[]>;
  /** Whether Settings let a holder of the shared token take any cluster's name. */
  readonly areNamesOpen: () => boolean;
  readonly view: () => Informer;
  readonly store: SnapshotStore;
  readonly kinds: ServerKinds;
}

/**
 * The first `next` compares with nothing: it gives the statuses of all objects of the management cluster that translation has one for, and
 * of all registrations.
 */
export function statusUpdates({
  agentName,
  delivery,
  lateSince,
  problemIn,
  modeOf,
  excluded,
  own,
  expiring,
  phases: phasesNow,
  cilium: ciliumNow,
  trustDomains: domainsNow,
  areNamesOpen,
  view,
  store,
  kinds,
}: StatusUpdatesOptions): StatusUpdates {
  const asked = new Set(kinds.management.filter(kinds.hasUserStatus).map(kindKeyOf));
  const discovery = new Map(kinds.discovery.map((kind) => [kindKeyOf(kind), kind]));
  const registration = kindKeyOf(kinds.registration);
  const touched = new Map<string, ResourceRef>();
  /** What the status of each cluster was made of. */
  let clusters: ReadonlyMap<string, ClusterStatusInputs> = new Map();
  let certificates: ReadonlyMap<string, readonly Condition[]> = new Map();
  let phases: ReadonlyMap<string, TrustPhases> = new Map();
  const times = phaseTimes();
  const ownKey = resourceKeyOf(own.ref);
  /** What the server said of itself. */
  let said: readonly Condition[] = [];
  let statuses: Statuses | undefined;

  const touch = (ref: ResourceRef) => void touched.set(resourceKeyOf(ref), ref);

  function startOver(): void {
    statuses = undefined;
    clusters = new Map();
    certificates = new Map();
    phases = new Map();
    said = [];
    // While another led, the times went on in the statuses.
    times.clear();
    touched.clear();
    for (const { ref } of view().malformed.values()) touch(ref);
  }

  /** Registered clusters of which nothing is known but what was published, as a text. */
  function unreportedClusters(): string {
    const names = [...view().snapshot.of(kinds.registration)].map(({ metadata }) => metadata.name);
    const unreported = names.filter((name) => (store.clusters.get(name)?.phase ?? "unknown") === "unknown").sort();
    const further = unreported.length - MOST_NAMES;
    return unreported.slice(0, MOST_NAMES).join(", ") + (further > 0 ? ` and ${further} others` : "");
  }

  /** Objects that translation throws on, and for which nothing stands, as a text. */
  function failingObjects(): string {
    const refs = [...(statuses?.memory.faults.values() ?? [])]
      .filter(({ inPlace }) => inPlace === undefined)
      .map(({ ref }) => formatRef(ref));
    const further = refs.length - MOST_NAMES;
    return refs.slice(0, MOST_NAMES).join(", ") + (further > 0 ? ` and ${further} others` : "");
  }

  /** Clusters are few enough to be looked at one by one. */
  function touchClusters({ resumed, now: time }: Pick<StatusSources, "resumed" | "now">): void {
    const facts = new Map<string, ClusterStatusInputs>();
    const isNameOpen = areNamesOpen();
    const unreported = unreportedClusters();
    const failing = failingObjects();
    const missing = failing === "" ? unreported : `${unreported === "" ? "none" : unreported}; translation fails on ${failing}`;
    const joinTokens = joinTokenValidities(view().snapshot, time);
    const [cilium, trustDomains] = [ciliumNow(), domainsNow()];
    for (const cluster of view().snapshot.of(kinds.registration)) {
      const { name } = cluster.metadata;
      const state = store.clusters.get(name);
      const now = {
        state,
        held: delivery.heldIn(name),
        lacking: delivery.lacksCausesIn(name) ? missing : undefined,
        resumed: resumed.get(name),
        certificate: certificateValidity(state?.agent, time),
        joinToken: joinTokens.get(name),
        problem: problemIn(name),
        isNameOpen,
        isExcluded: isExcluded(cluster, excluded()),
        late: clusterLagOf(lateSince(name), () => delivery.waitingIn(name)),
        cilium: cilium.get(name),
        trustDomains: trustDomains.get(name) ?? NO_DOMAINS,
        writes: { mode: modeOf(cluster), acknowledged: delivery.modeIn(name), comparison: delivery.comparisonIn(name) },
        refusals: delivery.refusalsIn(name),
      };
      const before = clusters.get(name);
      facts.set(name, now);
      if (before === undefined || !isSameClusterStatus(before, now)) touch(refOf(cluster));
    }
    clusters = facts;
  }

  /** A store fails, or is full, while nothing else changes. */
  function touchOwn(): void {
    const before = said;
    said = own.conditions();
    if (!equalJson(before, said)) touch(own.ref);
  }

  /** Certificates expire while nothing else changes. */
  function touchVirtualMeshes(): void {
    const [before, phasesBefore] = [certificates, phases];
    [certificates, phases] = [expiring(), phasesNow()];
    for (const virtualMesh of view().snapshot.of(VirtualMesh)) {
      const name = displayName(virtualMesh.metadata);
      const isSamePhase = equalJson(plainPhases(phasesBefore.get(name)), plainPhases(phases.get(name)));
      if (!isSamePhase || !equalJson(before.get(name), certificates.get(name))) touch(refOf(virtualMesh));
    }
  }

  function conditionsOf(ref: ResourceRef): readonly Condition[] {
    if (resourceKeyOf(ref) === ownKey) return said;
    if (kindKeyOf(ref) !== kindKeyOf(VirtualMesh)) return [];
    const name = displayName(ref);
    const { condition } = phases.get(name) ?? {};
    return [...(condition === undefined ? [] : [condition]), ...(certificates.get(name) ?? [])];
  }

  /** With how far each mesh of a VirtualMesh is. */
  function withPhases(update: DesiredStatus, now: number): DesiredStatus {
    if (kindKeyOf(update.ref) !== kindKeyOf(VirtualMesh)) return update;
    const own = phases.get(displayName(update.ref));
    const live = view().snapshot.of(VirtualMesh).get(update.ref)?.status;
    return own === undefined ? update : { ...update, status: times.withPhases(update, own, { live, now }) };
  }

  function updateOf(ref: ResourceRef, now: number): readonly DesiredStatus[] {
    if (kindKeyOf(ref) === registration) {
      const cluster = view().snapshot.of(kinds.registration).get(ref);
      return cluster === undefined ? [] : [clusterStatus(cluster, clusters.get(ref.name) ?? NOTHING_KNOWN, agentName)];
    }
    const malformed = view().malformed.get(resourceKeyOf(ref));
    if (malformed !== undefined && asked.has(kindKeyOf(ref))) return [malformedStatus(malformed)];
    const update = statuses?.of(ref);
    if (update === undefined) return [];
    const whole = withPhases(withConditions(update, conditionsOf(ref)), now);
    return observedAsPublished(keepUnreported(whole, view().snapshot));
  }

  /**
   * Discovered objects get their generation from the API server, and translation sees them before and after: their
   * `observedGeneration` is that of the published object, wherever translation had the object from. There is no status
   * where nothing else is to be said, nor was before.
   */
  function observedAsPublished(update: DesiredStatus): readonly DesiredStatus[] {
    const kind = discovery.get(kindKeyOf(update.ref));
    if (kind === undefined) return [update];
    const { observedGeneration: _, ...status } = update.status;
    const published = view().snapshot.of(kind).get(update.ref) as AnyResource | undefined;
    const generation = published?.metadata.generation;
    if (generation === undefined) return [];
    if (Object.keys(status).length === 0 && !saysSomething(published)) return [];
    return [{ ref: update.ref, status: { observedGeneration: generation, ...status } }];
  }

  return {
    observed({ put, remove }) {
      for (const resource of put) touch(refOf(resource));
      for (const ref of remove) touch(ref);
    },
    startOver,
    *next({ statuses: judged, resumed, now }) {
      const before = statuses;
      statuses = judged;
      if (judged !== undefined) {
        for (const ref of changedStatuses(judged, before)) {
          if (ref.clusterName === "") touch(ref);
          yield;
        }
      }
      touchClusters({ resumed, now });
      touchVirtualMeshes();
      touchOwn();
      // What is touched from now on is looked at the next time.
      const refs = [...touched.values()];
      touched.clear();
      const [few, many]: [DesiredStatus[], DesiredStatus[]] = [[], []];
      for (const ref of refs) {
        (discovery.has(kindKeyOf(ref)) ? many : few).push(...updateOf(ref, now));
        yield;
      }
      return [...few, ...many];
    },
  };
}

/** Whether a published object has more of a status than the generation that it is of. Of what an apply takes away, the API server leaves `{}`. */
function saysSomething(published: AnyResource | undefined): boolean {
  const members = Object.entries((published?.["status"] as JsonObject | undefined) ?? {});
  return members.some(([name, value]) => name !== "observedGeneration" && !equalJson(value, {}));
}

function withConditions({ ref, status }: DesiredStatus, also: readonly Condition[]): DesiredStatus {
  if (also.length === 0) return { ref, status };
  const conditions = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  return { ref, status: { ...status, conditions: [...conditions, ...also.map((condition) => ({ ...condition }))] } };
}

// Of clusters that a condition names.
const MOST_NAMES = 5;

const NO_DOMAINS: readonly never[] = [];
const NOTHING_KNOWN: ClusterStatusInputs = {
  state: undefined,
  held: 0,
  lacking: undefined,
  resumed: undefined,
  certificate: undefined,
  joinToken: undefined,
  cilium: undefined,
  trustDomains: NO_DOMAINS,
  problem: undefined,
  isNameOpen: false,
  isExcluded: false,
  late: undefined,
  writes: { mode: "manage", acknowledged: undefined, comparison: undefined },
  refusals: undefined,
};
