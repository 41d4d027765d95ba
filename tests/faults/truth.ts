import { KubernetesCluster, keepsLastAccepted, kindOf } from "@isthmus/api";
import {
  type AnyResource,
  emptySnapshot,
  isOwnedBy,
  kindKeyOf,
  type OutputSet,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  type Snapshot,
} from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { soundTranslation } from "@isthmus/testing";
import { lastKnownMeshOf, type Translation, translatedFieldsOf } from "@isthmus/translators";
import { NAMESPACE } from "./objects.ts";
import { ROLES, SERVER_ROLES } from "./roles.ts";

/** What all clusters hold that is not ours, and what therefore ought to be: worked out without any relay. */
export interface Truth {
  /** All objects, also those of clusters that are not registered. */
  readonly everything: Snapshot;
  /** What translation is to be made of. */
  readonly inputs: Snapshot;
  /** Clusters that are registered, the management cluster among them. */
  readonly places: ReadonlySet<string>;
  readonly world: Translation;
  /** What ought to be in one cluster, by `resourceKeyOf`. */
  wanted(clusterName: string): ReadonlyMap<string, Resource>;
}

/** The kinds, by `kindKeyOf`, that are out of sight in a cluster and of which the last that was seen counts. */
export type Hidden = ReadonlySet<string>;

/** Follows the true state; translations are made only when somebody asks. */
export class TrueStates {
  readonly #management: SimulatedCluster;
  readonly #clusters: ReadonlyMap<string, SimulatedCluster>;
  readonly #seen: Map<string, ReadonlyMap<string, Resource>>;
  #now: LazyTruth;

  /** With `base`, those states that such clusters were in before go before these. */
  constructor(management: SimulatedCluster, clusters: ReadonlyMap<string, SimulatedCluster>, base?: TrueStates) {
    this.#management = management;
    this.#clusters = clusters;
    this.#seen = base === undefined ? new Map() : new Map(base.#seen);
    this.#now = base === undefined ? new LazyTruth(emptySnapshot(), undefined) : base.#now;
  }

  get now(): Truth {
    return this.#now;
  }

  /** Takes in what has changed since, in one cluster or in all; says whether anything has. */
  observe(hidden: Hidden, clusterName?: string): boolean {
    let { everything } = this.#now;
    for (const cluster of [this.#management, ...this.#clusters.values()]) {
      if (clusterName !== undefined && cluster.name !== clusterName) continue;
      const before = this.#seen.get(cluster.name) ?? NOTHING;
      const after = this.#objectsOf(cluster, hidden);
      this.#seen.set(cluster.name, after);
      const put: Resource[] = [];
      const remove: ResourceRef[] = [];
      for (const [key, resource] of after) if (before.get(key) !== resource) put.push(resource);
      for (const [key, resource] of before) if (!after.has(key)) remove.push(refOf(resource));
      if (put.length > 0 || remove.length > 0) everything = everything.apply({ put, remove });
    }
    if (everything === this.#now.everything) return false;
    this.#now = new LazyTruth(everything, this.#now);
    return true;
  }

  #objectsOf(cluster: SimulatedCluster, hidden: Hidden): ReadonlyMap<string, Resource> {
    const { name } = cluster;
    const objects = new Map<string, Resource>();
    for (const [key, resource] of this.#seen.get(name) ?? NOTHING) {
      if (hidden.has(hiddenKey(name, kindKeyOf(resource)))) objects.set(key, resource);
    }
    for (const object of cluster.objects()) {
      const known = inputs.get(object) ?? inputOf(name, object);
      if (known.read !== undefined) objects.set(known.key, known.read);
    }
    return objects;
  }
}

export function hiddenKey(clusterName: string, kindKey: string): string {
  return `${clusterName}|${kindKey}`;
}

const NOTHING: ReadonlyMap<string, Resource> = new Map();

class LazyTruth implements Truth {
  readonly everything: Snapshot;
  readonly places: ReadonlySet<string>;
  readonly inputs: Snapshot;
  #previous: LazyTruth | undefined;
  #world: Translation | undefined;
  readonly #wanted = new Map<string, ReadonlyMap<string, Resource>>();

  constructor(everything: Snapshot, previous: LazyTruth | undefined) {
    this.everything = everything;
    this.places = placesOf(everything);
    this.inputs = registeredOnly(everything, this.places);
    this.#previous = previous;
  }

  get world(): Translation {
    this.#world ??= translatedFrom(this.inputs, this.#previous?.lastWorld());
    this.#previous = undefined;
    return this.#world;
  }

  /** The latest translation on the way here: it spares work and changes nothing. */
  lastWorld(): Translation | undefined {
    return this.#world ?? this.#previous?.lastWorld();
  }

  wanted(clusterName: string): ReadonlyMap<string, Resource> {
    let wanted = this.#wanted.get(clusterName);
    if (wanted === undefined) {
      wanted = this.places.has(clusterName) ? wantedOf(this.world, clusterName) : NOTHING;
      this.#wanted.set(clusterName, wanted);
    }
    return wanted;
  }
}

/** What ought to be in one cluster. */
export function wantedOf(world: Translation, clusterName: string): ReadonlyMap<string, Resource> {
  const wanted = new Map<string, Resource>();
  if (clusterName === "") {
    add(wanted, world.discovery, () => true);
    add(wanted, world.networking.inCluster(""), (kindKey) => PUBLISHED.has(kindKey));
  } else {
    add(wanted, world.networking.inCluster(clusterName), (kindKey) => !COMPUTED.has(kindKey));
  }
  return wanted;
}

function add(wanted: Map<string, Resource>, outputs: OutputSet, isWanted: (kindKey: string) => boolean): void {
  for (const { resource } of outputs) {
    let key = keys.get(resource);
    if (key === undefined) {
      key = resourceKeyOf(refOf(resource));
      keys.set(resource, key);
    }
    if (isWanted(kindKeyOf(resource))) wanted.set(key, resource);
  }
}

const keys = new WeakMap<Resource, string>();

/** From scratch, unless `previous` is given. */
export function translatedFrom(inputs: Snapshot, previous?: Translation): Translation {
  return soundTranslation(inputs, { namespace: NAMESPACE, stage: "all" }, previous);
}

/** The management cluster, and those that are registered there. */
function placesOf(everything: Snapshot): ReadonlySet<string> {
  const registrations = [...everything.of(KubernetesCluster)].filter(({ metadata }) => metadata.namespace === NAMESPACE);
  return new Set(["", ...registrations.map(({ metadata }) => metadata.name)]);
}

/** The objects of clusters that are registered. */
export function registeredOnly(everything: Snapshot, places = placesOf(everything)): Snapshot {
  const others: Resource[] = [];
  for (const collection of everything.collections().values()) {
    for (const resource of collection) if (!places.has(resource.metadata.clusterName ?? "")) others.push(resource);
  }
  return others.length === 0 ? everything : everything.apply({ put: [], remove: others.map(refOf) });
}

const PUBLISHED = new Set(SERVER_ROLES.kinds.published.map(kindKeyOf));
/** What agents hold in memory. */
const COMPUTED = new Set(ROLES.computedKinds.map(kindKeyOf));
const SENT = new Set(ROLES.sentKinds.map(kindKeyOf));
const READ = new Set(SERVER_ROLES.kinds.management.map(kindKeyOf));
const OURS = [...ROLES.owners, SERVER_ROLES.discoveryOwner];

/** Whether an object bears our label. */
export function bearsOurLabel(resource: Resource): boolean {
  return OURS.some((owner) => isOwnedBy(resource, owner));
}

function isInput(clusterName: string, object: Resource): boolean {
  return (clusterName === "" ? READ : SENT).has(kindKeyOf(object)) && !bearsOurLabel(object);
}

/** What of a published object is an input of the next translation. */
function rememberedIn(clusterName: string, object: AnyResource): Resource | undefined {
  return clusterName === "" && bearsOurLabel(object) ? lastKnownMeshOf(object) : undefined;
}

/** What an object of a cluster is to translation, with its key; `read` is undefined where it is nothing. */
interface Input {
  readonly key: string;
  readonly read: Resource | undefined;
}

// An object is that of one cluster, and never changes.
const inputs = new WeakMap<AnyResource, Input>();

function inputOf(clusterName: string, object: AnyResource): Input {
  const read = isInput(clusterName, object) ? readAs(object) : rememberedIn(clusterName, object);
  const input = { key: read === undefined ? "" : resourceKeyOf(refOf(read)), read };
  inputs.set(object, input);
  return input;
}

/** An object as the loops understand it. */
function readAs(object: AnyResource): Resource | undefined {
  const kind = kindOf(object.apiVersion, object.kind);
  if (kind === undefined) return undefined;
  const parsed = kind.parse(object);
  return kind.project?.(parsed) ?? (keepsLastAccepted(kind) ? translatedFieldsOf(parsed) : parsed);
}
