import {
  type Delta,
  equalJson,
  isOwnedBy,
  type Kind,
  kindKeyOf,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";

/** Tells what of the changes in the management cluster is news for translation. */
export interface ManagementEventFilter {
  of(delta: Delta): Delta;
}

export interface ManagementEventFilterOptions {
  readonly discovery: readonly Kind[];
  readonly discoveryOwner: Owner;
  /** What translation reads of an object. */
  readonly translationView: (resource: Resource) => Resource;
  /** What translation is to remember of an object that we derived. Default: nothing. */
  readonly memory?: {
    of(published: Resource): Resource | undefined;
    refOf(published: ResourceRef): ResourceRef | undefined;
  };
}

/** What we derived ourselves, but for what is remembered of it, and statuses that we wrote, are none: translation would run again for each of its own results. */
export function managementEventFilter({
  discovery,
  discoveryOwner,
  translationView,
  memory,
}: ManagementEventFilterOptions): ManagementEventFilter {
  const discovered = new Set(discovery.map(kindKeyOf));
  /** Objects of which translation does not read all, as it received them, by `resourceKeyOf`. */
  const told = new Map<string, Resource>();

  function news(resource: Resource): readonly Resource[] {
    const isDerived = discovered.has(kindKeyOf(resource)) && isOwnedBy(resource, discoveryOwner);
    const read = isDerived ? memory?.of(resource) : translationView(resource);
    if (read === undefined || read === resource) return read === undefined ? [] : [resource];
    const key = resourceKeyOf(refOf(resource));
    if (isSame(told.get(key), read)) return [];
    told.set(key, read);
    return [read];
  }

  function forget(ref: ResourceRef): void {
    told.delete(resourceKeyOf(ref));
  }

  return {
    of({ put, remove }) {
      remove.forEach(forget);
      const forgotten = remove.flatMap((ref) => memory?.refOf(ref) ?? []);
      return { put: put.flatMap(news), remove: forgotten.length === 0 ? remove : [...remove, ...forgotten] };
    },
  };
}

/** What cannot be compared is news: whatever goes wrong with an object is its own. */
function isSame(before: Resource | undefined, now: Resource): boolean {
  try {
    return equalJson(before, now);
  } catch {
    return false;
  }
}
