import type { ExtensionConfig } from "./extensionConfigStream.ts";

/** What an order says of one filter, and what is served for it now. */
export interface MeantFilter {
  /** What is meant, as text. */
  readonly content: string;
  /** What is served: as it is meant, or as it was meant before. */
  readonly held: ExtensionConfig | undefined;
}

/** What of a bound on all that is served is taken. What waits to be replaced has its room until it is. */
export interface ServedRoom {
  /** How many bytes the configuration may have that is served for all filters with a content that is not served yet. */
  left(content: string): number;
  /** It is served from now on, for all of them. */
  take(content: string, config: ExtensionConfig): void;
}

/** For at most so many bytes; `known` is what is served, by content. Configurations that are the same object count once. */
export function servedRoom(most: number, filters: readonly MeantFilter[], known: ReadonlyMap<string, ExtensionConfig>): ServedRoom {
  /** Of each configuration that is held the contents that are meant where it is. */
  const meant = new Map<ExtensionConfig, Set<string>>();
  const replacedBy = new Map<string, Set<ExtensionConfig>>();
  for (const { content, held } of filters) {
    const current = known.get(content);
    for (const config of [held, current]) if (config !== undefined) added(meant, config, content);
    if (held !== undefined && held !== current) added(replacedBy, content, held);
  }
  let taken = [...meant.keys()].reduce((sum, { config }) => sum + config.length, 0);

  /** What nobody has any more once the content is served. */
  function freedBy(content: string): readonly ExtensionConfig[] {
    return [...(replacedBy.get(content) ?? [])].filter((config) => meant.get(config)?.size === 1);
  }

  return {
    left: (content) => most - taken + freedBy(content).reduce((sum, { config }) => sum + config.length, 0),
    take(content, { config }) {
      for (const freed of freedBy(content)) taken -= freed.config.length;
      for (const before of replacedBy.get(content) ?? []) meant.get(before)?.delete(content);
      taken += config.length;
    },
  };
}

function added<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const before = sets.get(key);
  if (before === undefined) sets.set(key, new Set([value]));
  else before.add(value);
}
