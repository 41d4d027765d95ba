import { type Delta, type Index, type Kind, kindKeyOf, type Resource, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import type { Scope } from "@isthmus/translators";

/** Keeps back what is in namespaces that discovery does not look into, so that the server never hears of it. */
export interface ScopeFilter {
  /** What of a change is to be reported, with what other namespaces being looked into brings and takes away. */
  filtered(delta: Delta): Delta;
}

export interface ScopeFilterOptions {
  /** The kinds that are kept back. */
  readonly kinds: readonly Kind[];
  /** The cluster as it is known now, the change included. */
  readonly cluster: () => Snapshot;
  /** Whether everything is known by which namespaces are distinguished: before, nothing of the kinds is reported. */
  readonly isKnown: () => boolean;
  readonly scope: () => Scope;
}

/**
 * Filters `kinds` by `scope`: before `isKnown` no object of theirs is reported, then all that are in scope at once. `scope` must give
 * another function whenever other namespaces are in scope.
 */
export function scopeFilter({ kinds, cluster, isKnown, scope }: ScopeFilterOptions): ScopeFilter {
  const scoped = new Set(kinds.map(kindKeyOf));
  /** Undefined as long as nothing was reported. */
  let current: Scope | undefined;
  /** Of the namespaces that something was seen in. */
  const decided = new Map<string, boolean>();

  function objectsIn(namespace: string): readonly Resource[] {
    return [...scoped].flatMap((kindKey) => cluster().collections().get(kindKey)?.where(byNamespace, namespace) ?? []);
  }

  function isScoped(object: Resource | ResourceRef): boolean {
    return scoped.has(kindKeyOf(object));
  }

  function opened(delta: Delta, now: Scope): Delta {
    const all = [...scoped].flatMap((kindKey) => [...(cluster().collections().get(kindKey) ?? [])]);
    return { put: [...delta.put.filter((one) => !isScoped(one)), ...all.filter((one) => admits(now, one))], remove: delta.remove };
  }

  function admits(now: Scope, { metadata }: Resource): boolean {
    const { namespace = "" } = metadata;
    let isIn = decided.get(namespace);
    if (isIn === undefined) {
      isIn = now(namespace);
      decided.set(namespace, isIn);
    }
    return isIn;
  }

  return {
    filtered(delta) {
      if (current === undefined && !isKnown()) return { put: delta.put.filter((one) => !isScoped(one)), remove: delta.remove };
      const [before, now] = [current, scope()];
      current = now;
      if (before === undefined) return opened(delta, now);
      const flipped = before === now ? [] : [...decided].filter(([namespace, isIn]) => now(namespace) !== isIn);
      for (const [namespace, isIn] of flipped) decided.set(namespace, !isIn);
      const moved = flipped.flatMap(([namespace, wasIn]) => objectsIn(namespace).map((resource) => ({ resource, wasIn })));
      const shown = moved.filter(({ wasIn }) => !wasIn).map(({ resource }) => resource);
      const hidden = moved.filter(({ wasIn }) => wasIn).map(({ resource }) => refOf(resource));
      const put = delta.put.filter((one) => !isScoped(one) || admits(now, one));
      return shown.length + hidden.length === 0
        ? { put, remove: delta.remove }
        : { put: [...put, ...shown], remove: [...delta.remove, ...hidden] };
    },
  };
}

const byNamespace: Index<Resource> = ({ metadata }) => [metadata.namespace ?? ""];
