import type { Delta } from "./delta.ts";
import { equalContent } from "./equality.ts";
import { DuplicateOutput } from "./errors.ts";
import { clusterNameIn, formatRef, type ResourceRef, resourceKeyOf } from "./ref.ts";
import { type Resource, refOf } from "./resource.ts";
import { type Change, SortedMap } from "./sortedMap.ts";

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

/** All that one owner wants to exist; whatever else bears its label is garbage. Sets made from one another share what is equal. */
export interface OutputSet extends Iterable<Output> {
  readonly owner: Owner;
  readonly size: number;
  get(ref: ResourceRef): Output | undefined;
  /** The outputs by `resourceKeyOf`, cluster by cluster in key order. */
  entries(): Iterable<readonly [string, Output]>;
  /** The outputs for one cluster, in key order. */
  inCluster(clusterName: string): OutputSet;
  /** The clusters that some output is for, sorted. */
  clusters(): readonly string[];
  /** This set with `changes` made: by `resourceKeyOf`, an output, or `undefined` to take it out. */
  with(changes: Iterable<readonly [string, Output | undefined]>): OutputSet;
  /**
   * The outputs that are not the same object as in `older`, by `resourceKeyOf`, cluster by cluster in key order. Costs what
   * changed, where one set came from the other.
   */
  changesSince(older: OutputSet): readonly Change<Output>[];
  /** Throws DuplicateOutput when both hold one ref: two translators may not write one object. */
  union(other: OutputSet): OutputSet;
  /** What turns `actual`, the objects that bear this owner's label, into this set. Objects without the label are left alone. */
  diff(actual: Iterable<Resource>): Delta;
}

/** Whether an object bears an owner's label. */
export function isOwnedBy(resource: Resource, owner: Owner): boolean {
  return resource.metadata.labels?.[owner.label] === owner.value;
}

/** The set of `outputs`, each labelled as its owner's. Throws DuplicateOutput when two have one ref. */
export function outputSet(owner: Owner, outputs: Iterable<Output> = []): OutputSet {
  const byKey = new Map<string, Output>();
  for (const output of outputs) {
    const key = resourceKeyOf(refOf(output.resource));
    if (byKey.has(key)) throw new DuplicateOutput(formatRef(refOf(output.resource)));
    byKey.set(key, output);
  }
  return new ClusteredOutputSet(owner, new Map()).with(byKey);
}

function labelled(output: Output, owner: Owner): Output {
  if (isOwnedBy(output.resource, owner)) return output;
  const labels = { ...output.resource.metadata.labels, [owner.label]: owner.value };
  return { ...output, resource: { ...output.resource, metadata: { ...output.resource.metadata, labels } } };
}

class ClusteredOutputSet implements OutputSet {
  readonly owner: Owner;
  /** By cluster, its outputs by `resourceKeyOf`; none is empty. */
  readonly #byCluster: ReadonlyMap<string, SortedMap<Output>>;

  constructor(owner: Owner, byCluster: ReadonlyMap<string, SortedMap<Output>>) {
    this.owner = owner;
    this.#byCluster = byCluster;
  }

  get size(): number {
    let size = 0;
    for (const outputs of this.#byCluster.values()) size += outputs.size;
    return size;
  }

  get(ref: ResourceRef): Output | undefined {
    return this.#byCluster.get(ref.clusterName)?.get(resourceKeyOf(ref));
  }

  *[Symbol.iterator](): Iterator<Output> {
    const [first, ...others] = this.#byCluster.values();
    if (first === undefined) return;
    // Keys say the kind first and the cluster last, so that clusters lie among one another.
    const outputs = others.length === 0 ? first : first.update(others.flatMap((one) => [...one]));
    yield* outputs.values();
  }

  *entries(): Iterable<readonly [string, Output]> {
    for (const clusterName of this.clusters()) yield* this.#in(clusterName);
  }

  inCluster(clusterName: string): OutputSet {
    const outputs = this.#byCluster.get(clusterName);
    return new ClusteredOutputSet(this.owner, outputs === undefined ? new Map() : new Map([[clusterName, outputs]]));
  }

  clusters(): readonly string[] {
    return [...this.#byCluster.keys()].sort();
  }

  with(changes: Iterable<readonly [string, Output | undefined]>): ClusteredOutputSet {
    const edits = new Map<string, [string, Output | undefined][]>();
    for (const [key, output] of changes) {
      const change: [string, Output | undefined] = [key, output === undefined ? undefined : labelled(output, this.owner)];
      const clusterName = clusterNameIn(key);
      const list = edits.get(clusterName);
      if (list === undefined) edits.set(clusterName, [change]);
      else list.push(change);
    }
    if (edits.size === 0) return this;
    const byCluster = new Map(this.#byCluster);
    for (const [clusterName, list] of edits) {
      const outputs = this.#in(clusterName).update(list);
      if (outputs.size === 0) byCluster.delete(clusterName);
      else byCluster.set(clusterName, outputs);
    }
    return new ClusteredOutputSet(this.owner, byCluster);
  }

  changesSince(older: OutputSet): readonly Change<Output>[] {
    if (older === this) return [];
    const before = older instanceof ClusteredOutputSet ? older : new ClusteredOutputSet(older.owner, new Map()).with(older.entries());
    const clusterNames = [...new Set([...this.clusters(), ...before.clusters()])].sort();
    return clusterNames.flatMap((clusterName) => this.#in(clusterName).changesSince(before.#in(clusterName)));
  }

  union(other: OutputSet): OutputSet {
    for (const { resource } of other) if (this.get(refOf(resource)) !== undefined) throw new DuplicateOutput(formatRef(refOf(resource)));
    return this.with(other.entries());
  }

  diff(actual: Iterable<Resource>): Delta {
    const remove: ResourceRef[] = [];
    const present = new Map<string, Resource>();
    for (const resource of actual) {
      const ref = refOf(resource);
      present.set(resourceKeyOf(ref), resource);
      if (this.get(ref) === undefined && isOwnedBy(resource, this.owner)) remove.push(ref);
    }
    const put: Resource[] = [];
    for (const [key, { resource }] of this.entries()) {
      const existing = present.get(key);
      if (existing === undefined || !equalContent(existing, resource)) put.push(resource);
    }
    return { put, remove };
  }

  #in(clusterName: string): SortedMap<Output> {
    return this.#byCluster.get(clusterName) ?? SortedMap.empty<Output>();
  }
}
