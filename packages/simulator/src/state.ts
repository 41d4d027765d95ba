import { type AnyResource, type Clock, equalJson, type Kind, kindKeyOf, md5Hex, type Resource, type ResourceRef } from "@isthmus/core";
import { ClusterError, type ServedKind } from "@isthmus/ports";
import { equalManagers } from "./apply/fieldManagers.ts";
import type { FieldTypes } from "./apply/fieldPath.ts";
import { definedKind, established } from "./customResources.ts";
import { clusterDefaults, type Defaults } from "./defaults.ts";
import { unserved } from "./errors.ts";
import { builtInKinds, keyOfSimulatedKind, type SimulatedKind, simulatedKindOf, storageVersionOf } from "./kinds.ts";
import { assembled, type Content, contentOf, equalSpecs, type ServerMetadata, serverMetadataOf, timestamp } from "./object.ts";
import { KindStore, type Stored, storeKey } from "./store.ts";

export interface StateOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly kinds: readonly Kind[];
  readonly historyLimit: number;
  /** Tells the UIDs of two clusters of one name apart. */
  readonly seed: string;
  readonly image?: ClusterImage | undefined;
}

/** All that a cluster holds at one moment, for others to begin with. */
export interface ClusterImage {
  readonly revision: number;
  /** By `kindKeyOf`. */
  readonly objects: ReadonlyMap<string, readonly Stored[]>;
}

/** A kind that is served, and its objects. */
export interface Served {
  readonly kindKey: string;
  readonly kind: SimulatedKind;
  readonly store: KindStore;
}

/** What an API server that is served to clients knows of kinds beside what controllers and agents need. */
export interface Knowledge {
  fieldTypes(kindKey: string): FieldTypes | undefined;
  /** Fills in what a writer left out. */
  completed(kindKey: string, content: Content, before: Content | undefined): Content;
}

const NOTHING_MORE: Knowledge = { fieldTypes: () => undefined, completed: (_, content) => content };

/** What one simulated API server holds. All changes go through `commit`, one at a time. */
export class SimulatedState {
  readonly name: string;
  readonly clock: Clock;
  readonly defaults: Defaults = clusterDefaults();
  /** What else an API server knows of kinds that are written here. Default: no more than the tables of this package. */
  knowledge: Knowledge = NOTHING_MORE;
  readonly #served = new Map<string, Served>();
  /** Kinds that were taken away with their objects still in the store. */
  readonly #hidden = new Map<string, Served>();
  readonly #known: ReadonlyMap<string, SimulatedKind>;
  readonly #terminating = new Set<string>();
  readonly #historyLimit: number;
  readonly #uidPrefix: string;
  #revision = 1;
  #listed: { readonly parts: readonly (readonly AnyResource[])[]; readonly objects: readonly AnyResource[] } = { parts: [], objects: [] };
  #restores = 0;

  constructor({ name, clock, kinds, historyLimit, seed, image }: StateOptions) {
    this.name = name;
    this.clock = clock;
    this.#historyLimit = historyLimit;
    this.#uidPrefix = md5Hex(`${name}/${seed}`).slice(0, 8);
    const own = kinds.map(simulatedKindOf);
    this.#known = new Map(own.map((kind) => [keyOfSimulatedKind(kind), kind]));
    for (const kind of [...builtInKinds, ...own]) this.serve(kind);
    if (image !== undefined) this.#restore(image);
  }

  /** The objects of all kinds that are served. */
  image(): ClusterImage {
    const objects = new Map([...this.#served].map(([kindKey, { store }]) => [kindKey, [...store.in(undefined)]]));
    return { revision: this.#revision, objects };
  }

  #restore({ revision, objects }: ClusterImage): void {
    this.#revision = revision;
    for (const [kindKey, stored] of objects) {
      const served = this.#served.get(kindKey);
      if (served === undefined) continue;
      served.store.write(
        stored.map((each) => {
          // Takes the addresses and ports that the object holds.
          this.complete(served, contentOf(each.resource), undefined);
          const { name, namespace = "" } = each.resource.metadata;
          return { key: storeKey(namespace, name), stored: each, revision };
        }),
      );
    }
  }

  /**
   * Holds what an image holds, in place of what is there, `bump` revisions after it. Kinds are served as its definitions say; those that
   * are not served for another reason stay out of reach.
   */
  restore({ revision, objects }: ClusterImage, bump: number): void {
    this.#revision = revision + bump;
    this.#restores++;
    this.#terminating.clear();
    const definitions = objects.get(CUSTOM_RESOURCE_DEFINITION) ?? [];
    const then = new Map(
      definitions.flatMap(({ resource }) => definedKind(resource) ?? []).map((kind) => [keyOfSimulatedKind(kind), kind]),
    );
    for (const { resource } of this.#served.get(CUSTOM_RESOURCE_DEFINITION)?.store.in(undefined) ?? []) {
      const kind = definedKind(resource);
      if (kind === undefined || then.has(keyOfSimulatedKind(kind))) continue;
      this.unserve(keyOfSimulatedKind(kind));
      this.#hidden.delete(keyOfSimulatedKind(kind));
    }
    for (const [kindKey, kind] of then) if (!this.#served.has(kindKey) && !this.#hidden.has(kindKey)) this.serve(kind);
    for (const [kindKey, { store }] of [...this.#served, ...this.#hidden]) store.reset(objects.get(kindKey) ?? [], this.#revision);
  }

  /** The latest revision of the whole cluster. */
  get revision(): number {
    return this.#revision;
  }

  get now(): string {
    return timestamp(this.clock.now());
  }

  all(): Iterable<Served> {
    return this.#served.values();
  }

  /** Every object that can be reached, by kind and in order; the same list until something changes. */
  objects(): readonly AnyResource[] {
    let isSame = this.#listed.parts.length === this.#served.size;
    let i = 0;
    for (const { store } of this.#served.values()) isSame &&= this.#listed.parts[i++] === store.resources;
    if (!isSame) {
      const parts = Array.from(this.#served.values(), ({ store }) => store.resources);
      this.#listed = { parts, objects: parts.flat() };
    }
    return this.#listed.objects;
  }

  /** Throws ClusterError `Unserved` unless this very version is served. */
  served(type: { readonly apiVersion: string; readonly kind: string }): Served {
    const served = this.#served.get(kindKeyOf(type));
    if (!served?.kind.versions.includes(type.apiVersion)) throw unserved(type);
    return served;
  }

  /** The first of the kind's versions that is served. Throws ClusterError `Unserved` when none is. */
  servedVersion(kind: Kind): { readonly served: Served; readonly apiVersion: string } {
    const served = this.#served.get(kindKeyOf(kind));
    const apiVersion = kind.versions.find((version) => served?.kind.versions.includes(version));
    if (served === undefined || apiVersion === undefined) throw unserved(kind);
    return { served, apiVersion };
  }

  /** An object of a kind that is served. */
  find(ref: Omit<ResourceRef, "clusterName">): AnyResource | undefined {
    return this.#served.get(kindKeyOf(ref))?.store.get(ref.namespace, ref.name)?.resource;
  }

  servedKinds(): readonly ServedKind[] {
    return [...this.#served.values()].flatMap(({ kind: { kind, plural, namespaced, versions } }) =>
      versions.map((apiVersion) => ({ apiVersion, kind, plural, namespaced })),
    );
  }

  /** Serves a kind, in place of an earlier definition of it; the objects that were there before are there again. */
  serve(kind: SimulatedKind): void {
    const kindKey = keyOfSimulatedKind(kind);
    const before = this.#served.get(kindKey) ?? this.#hidden.get(kindKey);
    const checked = kind.parse === undefined ? { ...this.#known.get(kindKey), ...kind } : kind;
    this.#hidden.delete(kindKey);
    this.#served.set(kindKey, { kindKey, kind: checked, store: before?.store ?? new KindStore(this.#revision, this.#historyLimit) });
  }

  /** Stops serving a kind: its watches end and its objects are out of reach, but nothing says that they are gone. */
  unserve(kindKey: string): void {
    const served = this.#served.get(kindKey);
    if (served === undefined) return;
    this.#served.delete(kindKey);
    this.#hidden.set(kindKey, served);
    served.store.end();
  }

  newUid(): string {
    return `${this.#uidPrefix}-${this.#restores.toString(16).padStart(4, "0")}-4000-8000-${(this.#revision + 1).toString(16).padStart(12, "0")}`;
  }

  /** Refuses new objects where there is no such namespace, or where it is going. */
  requireNamespace(namespace: string): void {
    if (namespace === "") return;
    const found = this.#served.get("/Namespace")?.store.get("", namespace);
    if (found === undefined) throw new ClusterError("NotFound", `namespaces "${namespace}" not found`);
    if (found.resource.metadata.deletionTimestamp === undefined) return;
    throw new ClusterError("Forbidden", `namespace ${namespace} is being terminated: nothing new can be created in it`);
  }

  /**
   * Writes what an object becomes (`undefined`: it goes), with its version and generation, and gives it as stored. What
   * changes nothing writes nothing. A removal is put off while finalizers hold the object.
   */
  commit(served: Served, before: Stored | undefined, after: Stored | undefined): Stored | undefined {
    const { kind, store } = served;
    if (after === undefined) return before === undefined ? undefined : this.#remove(served, before);
    if (before !== undefined && before.resource === after.resource && equalManagers(before.managers, after.managers)) return before;
    const { metadata } = after.resource;
    const { deletionGracePeriodSeconds = 0 }: ServerMetadata = metadata;
    const isHeld = (metadata.finalizers ?? []).length > 0 || deletionGracePeriodSeconds > 0 || kind.kind === "Namespace";
    if (metadata.deletionTimestamp !== undefined && !isHeld) {
      if (before !== undefined) this.#remove(served, before);
      return after;
    }
    const revision = ++this.#revision;
    const stored: Stored = {
      ...after,
      resource: {
        ...after.resource,
        metadata: { ...metadata, ...this.#generation(kind, before, after), resourceVersion: String(revision) },
      },
    };
    store.write([{ key: storeKey(metadata.namespace ?? "", metadata.name), stored, revision }]);
    this.#afterWrite(served, stored.resource);
    return stored;
  }

  /** An object's content with what an API server fills in. */
  complete({ kindKey }: Served, content: Content, before: Stored | undefined): Content {
    const old = before === undefined ? undefined : contentOf(before.resource);
    const completed = this.knowledge.completed(kindKey, this.defaults.complete(kindKey, content, old), old);
    return kindKey === CUSTOM_RESOURCE_DEFINITION ? established(completed, this.now) : completed;
  }

  /** Puts objects without checking them, status included, in one step. */
  load(served: Served, resources: readonly AnyResource[]): void {
    const { kind } = served;
    const writes = resources.map((resource) => {
      const { name, namespace = "" } = resource.metadata;
      const uid = resource.metadata.uid ?? this.newUid();
      const revision = ++this.#revision;
      const server: ServerMetadata = {
        creationTimestamp: this.now,
        ...(kind.generation ? { generation: 1 } : {}),
        ...serverMetadataOf(resource),
        uid,
        resourceVersion: String(revision),
      };
      const { clusterName: _, ...metadata } = server;
      const content = this.complete(served, contentOf(resource), served.store.get(namespace, name));
      const placed = this.name === "" ? metadata : { ...metadata, clusterName: this.name };
      const type = { apiVersion: storageVersionOf(kind), kind: kind.kind };
      return { key: storeKey(namespace, name), stored: { resource: assembled(type, placed, content), managers: [] }, revision };
    });
    served.store.write(writes);
    for (const { stored } of writes) this.#afterWrite(served, stored.resource);
  }

  #remove(served: Served, { resource }: Stored): undefined {
    const { name, namespace = "" } = resource.metadata;
    served.store.write([{ key: storeKey(namespace, name), stored: undefined, revision: ++this.#revision }]);
    this.defaults.release(served.kindKey, contentOf(resource));
    if (served.kindKey === "/Namespace") this.#terminating.delete(name);
    if (served.kindKey === CUSTOM_RESOURCE_DEFINITION) this.#undefine(resource);
    if (this.#terminating.has(namespace)) this.#finishNamespace(namespace);
    return undefined;
  }

  #generation(kind: SimulatedKind, before: Stored | undefined, after: Stored): { generation?: number } {
    if (!kind.generation) return {};
    if (before === undefined) return { generation: 1 };
    const generation = before.resource.metadata.generation ?? 1;
    // Source: pkg/registry/apps/deployment/strategy.go.
    const annotated =
      kind.kind === "Deployment" && !equalJson(before.resource.metadata.annotations ?? {}, after.resource.metadata.annotations ?? {});
    const deleted = before.resource.metadata.deletionTimestamp !== after.resource.metadata.deletionTimestamp;
    const same = equalSpecs(contentOf(before.resource), contentOf(after.resource), !kind.statusSubresource);
    return { generation: same && !deleted && !annotated ? generation : generation + 1 };
  }

  #afterWrite({ kindKey }: Served, resource: AnyResource): void {
    const defined = kindKey === CUSTOM_RESOURCE_DEFINITION ? definedKind(resource) : undefined;
    if (defined !== undefined) this.serve(defined);
    if (kindKey !== "/Namespace" || resource.metadata.deletionTimestamp === undefined) return;
    this.#terminating.add(resource.metadata.name);
    this.#finishNamespace(resource.metadata.name);
  }

  /** A namespace that is being deleted goes when its last object has gone. */
  #finishNamespace(namespace: string): void {
    const served = this.#served.get("/Namespace");
    const stored = served?.store.get("", namespace);
    if (served === undefined || stored === undefined) return;
    for (const { kind, store } of this.#served.values()) {
      if (kind.namespaced && !isEmptyIterable(store.in(namespace))) return;
    }
    this.#remove(served, stored);
  }

  /** Deleting a CRD deletes its objects first, as watchers see. */
  #undefine(definition: Resource): void {
    const kind = definedKind(definition);
    const served = kind === undefined ? undefined : this.#served.get(keyOfSimulatedKind(kind));
    if (served === undefined) return;
    for (const stored of [...served.store.in(undefined)]) this.#remove(served, stored);
    this.unserve(served.kindKey);
    this.#hidden.delete(served.kindKey);
  }
}

/** The `kindKeyOf` of CustomResourceDefinition. */
const CUSTOM_RESOURCE_DEFINITION = "apiextensions.k8s.io/CustomResourceDefinition";

function isEmptyIterable(iterable: Iterable<unknown>): boolean {
  return iterable[Symbol.iterator]().next().done === true;
}

/** An object of a store in another version of its kind. */
export function inVersion(resource: AnyResource, apiVersion: string): AnyResource {
  return resource.apiVersion === apiVersion ? resource : { ...resource, apiVersion };
}
