import { CustomResourceDefinition } from "@isthmus/api";
import type { Clock, Log } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type ReflectorEvent, runReflector } from "./reflector.ts";
import { unsupportedDefinitions } from "./unsupportedDefinitions.ts";

/**
 * Which custom kinds a cluster defines, kept up to date: what documentation calls the verifier's cache. That a definition was
 * seen to go is evidence that its objects are gone; that a kind cannot be read is none.
 */
export interface CrdRegistry {
  /** Whether the definition of a kind (`kindKeyOf`) was seen to go, and has not come back. */
  isDeleted(kindKey: string): boolean;
  /** Calls `listener` whenever a definition came, went, or serves other versions; the result takes that back. */
  onChange(listener: (kindKey: string) => void): () => void;
  readonly ended: Promise<void>;
}

export interface CrdRegistryOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Lists and watches the CRDs of a cluster until `signal` is aborted. `isDeleted` is false for a kind whose definition was missing from the
 * first list already: it was not seen to go.
 */
export function watchCrds({ cluster, clock, random, log }: CrdRegistryOptions, signal: AbortSignal): CrdRegistry {
  /** By name of the definition: the kind it defines, and what of it decides how that kind is read. */
  const defined = new Map<string, { readonly kindKey: string; readonly serves: string }>();
  const deleted = new Set<string>();
  const listeners = new Set<(kindKey: string) => void>();
  const tellUnsupported = unsupportedDefinitions(cluster.name, log);
  let complaint = "";

  function tell(kindKey: string): void {
    for (const listener of [...listeners]) listener(kindKey);
  }

  function seen(definition: CustomResourceDefinition): void {
    const { name } = definition.metadata;
    const kindKey = `${definition.spec?.group ?? ""}/${definition.spec?.names?.kind ?? ""}`;
    const serves = servedBy(definition);
    if (defined.get(name)?.serves === serves) return;
    defined.set(name, { kindKey, serves });
    deleted.delete(kindKey);
    tell(kindKey);
  }

  function gone(name: string): void {
    const definition = defined.get(name);
    if (definition === undefined) return;
    defined.delete(name);
    deleted.add(definition.kindKey);
    log.info({ cluster: cluster.name, definition: name }, `CRD ${name} was deleted, and the objects of its kind with it`);
    tell(definition.kindKey);
  }

  function on(event: ReflectorEvent<CustomResourceDefinition>): void {
    if (event.type === "listed") {
      const names = new Set([...event.items.map(({ metadata }) => metadata.name), ...event.malformed.map(({ ref }) => ref.name)]);
      for (const name of [...defined.keys()]) if (!names.has(name)) gone(name);
      for (const definition of event.items) seen(definition);
      tellUnsupported(event.items);
      complaint = "";
    } else if (event.type === "put") {
      seen(event.resource);
      tellUnsupported([event.resource]);
    } else if (event.type === "removed") gone(event.ref.name);
    else if (event.type === "unavailable" && event.message !== complaint) {
      // Without them kinds are tried from time to time, and what vanishes stays as it was last known.
      complaint = event.message;
      log.warn({ cluster: cluster.name }, `cannot list CRDs: ${event.message}; retrying`);
    }
  }

  return {
    isDeleted: (kindKey) => deleted.has(kindKey),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ended: runReflector({ cluster, kind: CustomResourceDefinition, clock, random, emit: on }, signal),
  };
}

/** What decides how objects of a kind are read: a definition made again may have other objects. */
function servedBy({ metadata, spec, status }: CustomResourceDefinition): string {
  const isEstablished = status?.conditions?.some((condition) => condition.type === "Established" && condition.status === "True") === true;
  const versions = (spec?.versions ?? []).flatMap(({ name = "", served }) => (served === true ? [name] : []));
  return [metadata.uid ?? "", isEstablished ? "established" : "", ...versions].join(" ");
}
