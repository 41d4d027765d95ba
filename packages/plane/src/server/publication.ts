import { type CooperativeTask, emptyOutputSet, kindKeyOf, type OutputSet, type Resource, SortedMap } from "@isthmus/core";

/** What is to stand in the management cluster, and what it was made of. */
export interface Publication {
  readonly sources: PublishedObjects | undefined;
  /** By `resourceKeyOf`. */
  readonly desired: SortedMap<Resource>;
}

/** Where what is to be published comes from. */
interface PublishedObjects {
  /** The outputs of networking for the management cluster. */
  readonly own: OutputSet;
  readonly discovery: OutputSet;
  /** What stands for clusters that are offline, by `resourceKeyOf`: it stays, whatever is to be published of what is known. */
  readonly remembered: SortedMap<Resource>;
}

export interface PublicationSources extends PublishedObjects {
  /** Whether a discovered object is to be published. */
  readonly isInScope: (resource: Resource) => boolean;
  /** The discovered objects, by `resourceKeyOf`, of which that may have changed since the publication before. */
  readonly rescoped: Iterable<string> | "all";
}

export const nothingPublished: Publication = { sources: undefined, desired: SortedMap.empty() };

/**
 * What is to be published now. Costs what its sources changed. `published`: `kindKeyOf` of what is written into the management
 * cluster.
 */
export function* publicationOf(now: PublicationSources, before: Publication, published: ReadonlySet<string>): CooperativeTask<Publication> {
  const { own, discovery, remembered } = before.sources ?? nothing(now);
  const changed = new Set<string>();
  for (const { key } of now.own.changesSince(own)) changed.add(key);
  for (const { key } of now.discovery.changesSince(discovery)) changed.add(key);
  for (const { key } of now.remembered.changesSince(remembered)) changed.add(key);
  if (now.rescoped === "all") for (const [key] of now.discovery.entries()) changed.add(key);
  else for (const key of now.rescoped) changed.add(key);
  const at = (key: string): Resource | undefined => {
    const output = now.own.at(key)?.resource;
    if (output !== undefined && published.has(kindKeyOf(output))) return output;
    const found = now.discovery.at(key)?.resource;
    return found !== undefined && now.isInScope(found) ? found : now.remembered.get(key);
  };
  let { desired } = before;
  let part: (readonly [string, Resource | undefined])[] = [];
  for (const key of changed) {
    part.push([key, at(key)]);
    if (part.length < PART) continue;
    desired = desired.update(part);
    part = [];
    yield;
  }
  // Nothing else of them: what says what is in scope knows whole worlds, also the one before.
  const sources = { own: now.own, discovery: now.discovery, remembered: now.remembered };
  return { sources, desired: desired.update(part) };
}

// A few milliseconds.
const PART = 1_024;

function nothing({ own, discovery }: PublicationSources): PublishedObjects {
  return { own: emptyOutputSet(own.owner), discovery: emptyOutputSet(discovery.owner), remembered: SortedMap.empty() };
}
