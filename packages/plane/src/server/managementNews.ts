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
export interface ManagementNews {
  of(delta: Delta): Delta;
}

export interface ManagementNewsOptions {
  readonly discovery: readonly Kind[];
  readonly discoveryOwner: Owner;
  /** What translation reads of an object. */
  readonly asTranslated: (resource: Resource) => Resource;
}

/** What we derived ourselves, and statuses that we wrote, are none: translation would run again for each of its own results. */
export function managementNews({ discovery, discoveryOwner, asTranslated }: ManagementNewsOptions): ManagementNews {
  const discovered = new Set(discovery.map(kindKeyOf));
  /** Objects of which translation does not read all, as it was told of them, by `resourceKeyOf`. */
  const told = new Map<string, Resource>();

  function news(resource: Resource): readonly Resource[] {
    if (discovered.has(kindKeyOf(resource)) && isOwnedBy(resource, discoveryOwner)) return [];
    const read = asTranslated(resource);
    if (read === resource) return [resource];
    const key = resourceKeyOf(refOf(resource));
    if (equalJson(told.get(key), read)) return [];
    told.set(key, read);
    return [read];
  }

  function forget(ref: ResourceRef): void {
    told.delete(resourceKeyOf(ref));
  }

  return {
    of({ put, remove }) {
      remove.forEach(forget);
      return { put: put.flatMap(news), remove };
    },
  };
}
