import type { Delta } from "./delta.ts";
import { equalContent } from "./equality.ts";
import { DuplicateOutput } from "./errors.ts";
import { clusterNameIn, formatRef, type ResourceRef, resourceKeyOf } from "./ref.ts";
import { type Resource, refOf } from "./resource.ts";
import { type EntryChange, SortedMap } from "./sortedMap.ts";

/** Who wants a set of outputs: the label and value that each of them bears. */
export interface Owner {
  readonly label: `owner.${string}`;
  readonly value: string;
}

/** A desired resource and the user or discovered resources it exists because of. */
export interface Output {
  readonly resource: Resource;
  readonly parents: readonly ResourceRef[];
}

/** All that one owner wants to exist; whatever else bears its label is garbage. Sets made from one another share what is equal. */
export interface OutputSet<O extends Output = Output> extends Iterable<O> {
  readonly owner: Owner;
  readonly size: number;
  get(ref: ResourceRef): O | undefined;
  /** The output whose `resourceKeyOf` is `key`. */
  at(key: string): O | undefined;
  /** The outputs by `resourceKeyOf`, cluster by cluster in key order. */
  entries(): Iterable<readonly [string, O]>;
  /** The outputs for one cluster, in key order: the very same set as long as none of them changes. */
  inCluster(clusterName: string): OutputSet<O>;
  /** The clusters that some output is for, sorted. */
  clusters(): readonly string[];
  /** This set with `changes` made: by `resourceKeyOf`, an output that bears the owner's label, or `undefined` to take it out. */
  with(changes: Iterable<readonly [string, O | undefined]>): OutputSet<O>;
  /**
   * The outputs that are not the same object as in `older`, by `resourceKeyOf`, cluster by cluster in key order. Costs what
   * changed, where one set came from the other.
   */
  changesSince(older: OutputSet<O>): readonly EntryChange<O>[];
  /** Throws DuplicateOutput when both hold one ref: two translators may not write one object. */
  union(other: OutputSet<O>): OutputSet<O>;
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
    byKey.set(key, labelled(output, owner));
  }
  return emptyOutputSet(owner).with(byKey);
}

/** A set without outputs. */
export function emptyOutputSet<O extends Output = Output>(owner: Owner): OutputSet<O> {
  return new ClusteredOutputSet<O>(owner, new Map());
}

function labelled(output: Output, owner: Owner): Output {
  if (isOwnedBy(output.resource, owner)) return output;
  const labels = { ...output.resource.metadata.labels, [owner.label]: owner.value };
  return { ...output, resource: { ...output.resource, metadata: { ...output.resource.metadata, labels } } };
}

class ClusteredOutputSet<O extends Output> implements OutputSet<O> {
  readonly owner: Owner;
  /** By cluster, its outputs by `resourceKeyOf`; none is empty. */
  readonly #byCluster: ReadonlyMap<string, SortedMap<O>>;
  /** What `inCluster` gives for the outputs of one cluster; one for all sets that were made from one another. */
  readonly #parts: WeakMap<SortedMap<O>, ClusteredOutputSet<O>>;

  constructor(
    owner: Owner,
    byCluster: ReadonlyMap<string, SortedMap<O>>,
    parts: WeakMap<SortedMap<O>, ClusteredOutputSet<O>> = new WeakMap(),
  ) {
    this.owner = owner;
    this.#byCluster = byCluster;
    this.#parts = parts;
  }

  get size(): number {
    let size = 0;
    for (const outputs of this.#byCluster.values()) size += outputs.size;
    return size;
  }

  get(ref: ResourceRef): O | undefined {
    return this.#in(ref.clusterName).get(resourceKeyOf(ref));
  }

  at(key: string): O | undefined {
    if (this.#byCluster.size === 0) return undefined;
    return this.#in(clusterNameIn(key)).get(key);
  }

  *[Symbol.iterator](): Iterator<O> {
    const [first, ...others] = this.#byCluster.values();
    if (first === undefined) return;
    // Keys say the kind first and the cluster last, so that clusters lie among one another.
    const outputs = others.length === 0 ? first : first.update(others.flatMap((one) => [...one]));
    yield* outputs.values();
  }

  *entries(): Iterable<readonly [string, O]> {
    for (const clusterName of this.clusters()) yield* this.#in(clusterName);
  }

  inCluster(clusterName: string): OutputSet<O> {
    const outputs = this.#in(clusterName);
    let part = this.#parts.get(outputs);
    if (part === undefined) {
      part = new ClusteredOutputSet(this.owner, outputs.size === 0 ? new Map() : new Map([[clusterName, outputs]]), this.#parts);
      this.#parts.set(outputs, part);
    }
    return part;
  }

  clusters(): readonly string[] {
    return [...this.#byCluster.keys()].sort();
  }

  with(changes: Iterable<readonly [string, O | undefined]>): ClusteredOutputSet<O> {
    const edits = new Map<string, [string, O | undefined][]>();
    for (const [key, output] of changes) {
      // Without its label an object would stay for ever.
      if (output !== undefined && !isOwnedBy(output.resource, this.owner)) throw new Error(`${key} does not have the label of its owner`);
      // The same for both; the object's own text is at hand.
      const clusterName = output === undefined ? clusterNameIn(key) : (output.resource.metadata.clusterName ?? "");
      const list = edits.get(clusterName);
      if (list === undefined) edits.set(clusterName, [[key, output]]);
      else list.push([key, output]);
    }
    if (edits.size === 0) return this;
    const byCluster = new Map(this.#byCluster);
    for (const [clusterName, list] of edits) {
      const outputs = this.#in(clusterName).update(list);
      if (outputs.size === 0) byCluster.delete(clusterName);
      else byCluster.set(clusterName, outputs);
    }
    return new ClusteredOutputSet(this.owner, byCluster, this.#parts);
  }

  changesSince(older: OutputSet<O>): readonly EntryChange<O>[] {
    if (older === this) return [];
    const before = older instanceof ClusteredOutputSet ? older : new ClusteredOutputSet<O>(older.owner, new Map()).with(older.entries());
    const clusterNames = new Set([...this.#byCluster.keys(), ...before.#byCluster.keys()]);
    const changed = [...clusterNames].filter((clusterName) => this.#in(clusterName) !== before.#in(clusterName)).sort();
    return changed.flatMap((clusterName) => this.#in(clusterName).changesSince(before.#in(clusterName)));
  }

  union(other: OutputSet<O>): OutputSet<O> {
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

  #in(clusterName: string): SortedMap<O> {
    return this.#byCluster.get(clusterName) ?? SortedMap.empty<O>();
  }
}
