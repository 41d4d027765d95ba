import type { Delta } from "./delta.ts";
import { equalContent } from "./equality.ts";
import { DuplicateOutput } from "./errors.ts";
import { formatRef, type ResourceRef, resourceKeyOf } from "./ref.ts";
import { type Resource, refOf } from "./resource.ts";

/** Who wants a set of outputs: the label and value that each of them bears. */
export interface Owner {
  readonly label: `owner.${string}`;
  readonly value: string;
}

/** A wanted resource and the user or discovered resources it exists because of. */
export interface Output {
  readonly resource: Resource;
  readonly parents: readonly ResourceRef[];
}

/** All that one owner wants to exist; whatever else bears its label is garbage. */
export interface OutputSet extends Iterable<Output> {
  readonly owner: Owner;
  readonly size: number;
  get(ref: ResourceRef): Output | undefined;
  /** The outputs for one cluster, in key order. */
  inCluster(clusterName: string): OutputSet;
  /** The clusters that some output is for, sorted. */
  clusters(): readonly string[];
  /** Throws DuplicateOutput when both hold one ref: two translators may not write one object. */
  union(other: OutputSet): OutputSet;
  /** What turns `actual`, the objects that bear this owner's label, into this set. Objects without the label are left alone. */
  diff(actual: Iterable<Resource>): Delta;
}

/** Whether an object bears an owner's label. An owner without a value owns nothing: a missing label must never match. */
export function isOwnedBy(resource: Resource, owner: Owner): boolean {
  const value = resource.metadata.labels?.[owner.label];
  return value !== undefined && value !== "" && value === owner.value;
}

/** The set of `outputs`, each labelled as its owner's. Throws DuplicateOutput when two have one ref. */
export function outputSet(owner: Owner, outputs: Iterable<Output> = []): OutputSet {
  const byKey = new Map<string, Output>();
  for (const output of outputs) {
    const key = resourceKeyOf(refOf(output.resource));
    if (byKey.has(key)) throw new DuplicateOutput(formatRef(refOf(output.resource)));
    byKey.set(key, isOwnedBy(output.resource, owner) ? output : { ...output, resource: withOwner(output.resource, owner) });
  }
  return new MapOutputSet(owner, byKey);
}

function withOwner(resource: Resource, owner: Owner): Resource {
  const labels = { ...resource.metadata.labels, [owner.label]: owner.value };
  return { ...resource, metadata: { ...resource.metadata, labels } };
}

class MapOutputSet implements OutputSet {
  readonly owner: Owner;
  readonly #byKey: ReadonlyMap<string, Output>;
  #byCluster: ReadonlyMap<string, OutputSet> | undefined;

  constructor(owner: Owner, byKey: ReadonlyMap<string, Output>) {
    this.owner = owner;
    this.#byKey = byKey;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(ref: ResourceRef): Output | undefined {
    return this.#byKey.get(resourceKeyOf(ref));
  }

  *[Symbol.iterator](): Iterator<Output> {
    const keys = [...this.#byKey.keys()].sort();
    for (const key of keys) yield this.#byKey.get(key) as Output;
  }

  inCluster(clusterName: string): OutputSet {
    return this.#clusterSets().get(clusterName) ?? new MapOutputSet(this.owner, new Map());
  }

  clusters(): readonly string[] {
    return [...this.#clusterSets().keys()].sort();
  }

  union(other: OutputSet): OutputSet {
    const byKey = new Map(this.#byKey);
    for (const output of other) {
      const key = resourceKeyOf(refOf(output.resource));
      if (byKey.has(key)) throw new DuplicateOutput(formatRef(refOf(output.resource)));
      byKey.set(key, output);
    }
    return new MapOutputSet(this.owner, byKey);
  }

  diff(actual: Iterable<Resource>): Delta {
    const remove: ResourceRef[] = [];
    const present = new Map<string, Resource>();
    for (const resource of actual) {
      const key = resourceKeyOf(refOf(resource));
      present.set(key, resource);
      if (!this.#byKey.has(key) && isOwnedBy(resource, this.owner)) remove.push(refOf(resource));
    }
    const put: Resource[] = [];
    for (const [key, { resource }] of this.#byKey) {
      const existing = present.get(key);
      if (existing === undefined || !equalContent(existing, resource)) put.push(resource);
    }
    return { put, remove };
  }

  #clusterSets(): ReadonlyMap<string, OutputSet> {
    if (this.#byCluster !== undefined) return this.#byCluster;
    const maps = new Map<string, Map<string, Output>>();
    for (const [key, output] of this.#byKey) {
      const clusterName = output.resource.metadata.clusterName ?? "";
      const map = maps.get(clusterName) ?? new Map<string, Output>();
      maps.set(clusterName, map.set(key, output));
    }
    this.#byCluster = new Map([...maps].map(([name, map]) => [name, new MapOutputSet(this.owner, map)]));
    return this.#byCluster;
  }
}
