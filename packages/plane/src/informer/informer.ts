import {
  type Clock,
  compact,
  type Delta,
  emptySnapshot,
  equalJson,
  excessOf,
  formatRef,
  isEmpty,
  type JsonObject,
  type Kind,
  kindKeyOf,
  type Log,
  messageOf,
  onAbort,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  type Snapshot,
} from "@isthmus/core";
import type { Cluster, Malformed } from "@isthmus/ports";
import { type CrdRegistry, watchCrds } from "./crdRegistry.ts";
import { type ReflectorEvent, runReflector } from "./reflector.ts";

/**
 * How much is known of one kind. Objects of a kind that is `stale` stay as they were: it cannot be read, or is not served any
 * more without its CRD having been seen to go. A kind whose CRD was seen to go is `known`, and has no objects.
 */
export type KindState = "unknown" | "known" | "unserved" | "stale";

/** All objects of some kinds in one cluster, kept up to date. */
export interface Informer {
  /** Everything known now. */
  readonly snapshot: Snapshot;
  /** Whether every kind has been listed once, or is not served. */
  readonly isComplete: boolean;
  /** Per `kindKeyOf`. */
  readonly kinds: ReadonlyMap<string, KindState>;
  /** Objects that are there and are not of their kind, with what is wrong, by `resourceKeyOf`. */
  readonly malformed: ReadonlyMap<string, Malformed>;
  /** The CRDs of the cluster. */
  readonly definitions: CrdRegistry;
  /** Ends when the view was aborted. */
  readonly ended: Promise<void>;
}

export interface InformerOptions {
  readonly cluster: Cluster;
  readonly kinds: readonly Kind[];
  /** The CRDs of the cluster, where somebody follows them already. Default: they are followed. */
  readonly definitions?: CrdRegistry;
  /** The namespace to which reading a kind is limited. Default: none. */
  readonly namespaceOf?: (kind: Kind) => string | undefined;
  /** Lists everything again so often, in milliseconds, beside watching. Default: never. */
  readonly relistMs?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /**
   * Whether the last good form of a malformed object stays in use. So it does for what others wrote and we merely read; what
   * a user asks of us is not in force while it cannot be understood. Default: yes.
   */
  readonly keepsLastGood?: (kind: Kind) => boolean;
  /** Whether a kind that may not be read counts as one that is not served, until it may: nothing waits for it. Default: no. */
  readonly isReadIfPermitted?: (kind: Kind) => boolean;
  /** By `kindKeyOf`: called with each object as the API server has it, before what is of no use goes, also where nothing else of it has changed. Must not throw. */
  readonly raw?: ReadonlyMap<string, (resource: Resource) => void>;
  /** Called after each change of `snapshot` or of a kind's state. Must not throw. */
  readonly changed: (delta: Delta) => void;
  /** Called when all objects of a kind (`kindKeyOf`) were listed, after `changed` if that is called. Must not throw. Default: nobody asks. */
  readonly listed?: (kindKey: string) => void;
  /** Called when a kind (`kindKeyOf`) that was not served is there again. Must not throw. Default: nobody asks. */
  readonly servedAgain?: (kindKey: string) => void;
}

/** Follows `kinds` in a cluster. */
export function startInformer(options: InformerOptions, signal: AbortSignal): Informer {
  const {
    cluster,
    kinds,
    relistMs,
    clock,
    random,
    log,
    changed,
    listed,
    servedAgain,
    keepsLastGood = () => true,
    isReadIfPermitted = () => false,
    namespaceOf = () => undefined,
  } = options;
  let snapshot = emptySnapshot();
  const states = new Map<string, KindState>(kinds.map((kind) => [kindKeyOf(kind), "unknown"]));
  const malformed = new Map<string, Malformed>();
  /** Kinds that are not served now. */
  const unserved = new Set<string>();
  const definitions = options.definitions ?? watchCrds({ cluster, clock, random, log }, signal);
  const byKey = new Map(kinds.map((kind) => [kindKeyOf(kind), kind]));
  const forgetDefinitions = definitions.onChange((kindKey) => {
    const kind = byKey.get(kindKey);
    // Its objects were found to be out of reach before anybody knew why.
    if (kind !== undefined && unserved.has(kindKey) && states.get(kindKey) === "stale") on(kind, { type: "unserved" });
  });

  const trims = new Map(kinds.map((kind) => [kindKeyOf(kind), trimmedSeen(kind, options.raw?.get(kindKeyOf(kind)))]));
  const trimOf = (kind: Kind) => trims.get(kindKeyOf(kind)) ?? trimmed(kind);

  function on(kind: Kind, event: ReflectorEvent<Resource>): void {
    const kindKey = kindKeyOf(kind);
    const before = states.get(kindKey);
    const delta = deltaOf(kind, event);
    let isBack = false;
    if (event.type === "unserved") unserved.add(kindKey);
    else if (event.type !== "unavailable") isBack = unserved.delete(kindKey);
    if (
      event.type === "unavailable" &&
      event.isForbidden === true &&
      isReadIfPermitted(kind) &&
      (before === "unknown" || unserved.has(kindKey))
    ) {
      if (!unserved.has(kindKey))
        log.warn({ cluster: cluster.name, kind: kind.kind }, `continues without ${kind.plural}: ${event.message}`);
      unserved.add(kindKey);
      states.set(kindKey, "unserved");
    } else if (event.type === "unavailable") {
      if (before === "known") states.set(kindKey, "stale");
      log.warn({ cluster: cluster.name, kind: kind.kind }, `cannot read ${kind.plural} of ${placeOf(cluster)}: ${event.message}; retrying`);
    } else if (event.type === "unserved") {
      if (before === "known" || before === "stale") states.set(kindKey, definitions.isDeleted(kindKey) ? "known" : "stale");
      else states.set(kindKey, "unserved");
    } else {
      states.set(kindKey, "known");
    }
    if (delta !== undefined) snapshot = snapshot.apply(delta);
    if (delta !== undefined || states.get(kindKey) !== before) changed(delta ?? { put: [], remove: [] });
    if (event.type === "listed") listed?.(kindKey);
    if (isBack) servedAgain?.(kindKey);
  }

  function deltaOf(kind: Kind, event: ReflectorEvent<Resource>): Delta | undefined {
    switch (event.type) {
      case "listed": {
        forgetMalformed(kind);
        for (const found of event.malformed) report(kind, found);
        const remove = vanished(snapshot.of(kind), event.items, event.malformed);
        // Reported even of those that were never known: something is to be said of them.
        if (!keepsLastGood(kind)) remove.push(...event.malformed.map(({ ref }) => ref));
        const put = event.items.filter((item) => isNews(kind, item));
        return isEmpty({ put, remove }) ? undefined : { put, remove };
      }
      case "put": {
        const put = trimmedOrMalformed(trimOf(kind), event.resource);
        if ("malformed" in put) return deltaOf(kind, { type: "malformed", ...put });
        malformed.delete(resourceKeyOf(refOf(put.resource)));
        return isNews(kind, put.resource) ? { put: [put.resource], remove: [] } : undefined;
      }
      case "removed":
        malformed.delete(resourceKeyOf(event.ref));
        return { put: [], remove: [event.ref] };
      case "malformed":
        report(kind, event.malformed);
        return keepsLastGood(kind) ? { put: [], remove: [] } : { put: [], remove: [event.malformed.ref] };
      case "unserved": {
        if (!definitions.isDeleted(kindKeyOf(kind))) return undefined;
        forgetMalformed(kind);
        const remove = [...snapshot.of(kind)].map(refOf);
        return remove.length === 0 ? undefined : { put: [], remove };
      }
      default:
        return undefined;
    }
  }

  /** Whether somebody needs to hear of an object; what has but another version is noted, for those who write that very one. */
  function isNews(kind: Kind, resource: Resource): boolean {
    const before = snapshot.of(kind).get(refOf(resource));
    if (before === undefined || !isSame(before, resource)) return true;
    const { resourceVersion } = resource.metadata;
    if (resourceVersion === undefined || resourceVersion === before.metadata.resourceVersion) return false;
    snapshot = snapshot.apply({ put: [{ ...before, metadata: { ...before.metadata, resourceVersion } }], remove: [] });
    return false;
  }

  function report(kind: Kind, found: Malformed): void {
    const key = resourceKeyOf(found.ref);
    if (malformed.get(key)?.message !== found.message) {
      const consequence = keepsLastGood(kind) ? "its last valid form, if any, is still used" : "it is not in force";
      log.warn({ cluster: cluster.name, object: formatRef(found.ref) }, `${found.message}; ${consequence}`);
    }
    malformed.set(key, found);
  }

  function forgetMalformed(kind: Kind): void {
    for (const [key, { ref }] of malformed) if (kindKeyOf(ref) === kindKeyOf(kind)) malformed.delete(key);
  }

  const following = kinds.map((kind) => {
    const namespace = namespaceOf(kind);
    return runReflector(
      {
        cluster,
        kind,
        ...(namespace === undefined ? {} : { list: { namespace } }),
        transform: trimOf(kind),
        redefined: definitions.onChange,
        ...(relistMs === undefined ? {} : { relistMs }),
        clock,
        random,
        emit: (event) => on(kind, event),
      },
      signal,
    );
  });
  onAbort(signal, forgetDefinitions);
  const ended = Promise.all([...following, ...(options.definitions === undefined ? [definitions.ended] : [])]).then(() => undefined);

  return {
    get snapshot() {
      return snapshot;
    },
    get isComplete() {
      return [...states.values()].every((state) => state !== "unknown");
    },
    kinds: states,
    malformed,
    definitions,
    ended,
  };
}

/** The refs of known objects that a complete list does not hold. A malformed object exists. */
function vanished(known: Iterable<Resource>, items: readonly Resource[], malformed: readonly Malformed[]): ResourceRef[] {
  const present = new Set([...items.map(refOf), ...malformed.map(({ ref }) => ref)].map(resourceKeyOf));
  return [...known].map(refOf).filter((ref) => !present.has(resourceKeyOf(ref)));
}

/**
 * Only what of an object is of use, so that neither memory nor the wire carries the rest. Throws for one that is too much for the wire. The
 * same function for a kind each time.
 */
function trimmed(kind: Kind): (resource: Resource) => Resource {
  let trim = trims.get(kind);
  if (trim === undefined) {
    trim = (resource) => compact(kind.project?.(resource) ?? resource);
    trims.set(kind, trim);
  }
  return trim;
}

const trims = new WeakMap<Kind, (resource: Resource) => Resource>();

function trimmedSeen(kind: Kind, seen: ((resource: Resource) => void) | undefined): (resource: Resource) => Resource {
  const trim = trimmed(kind);
  if (seen === undefined) return trim;
  return (resource) => {
    seen(resource);
    return trim(resource);
  };
}

function trimmedOrMalformed(
  trim: (resource: Resource) => Resource,
  resource: Resource,
): { readonly resource: Resource } | { readonly malformed: Malformed } {
  try {
    return { resource: trim(resource) };
  } catch (error) {
    const ref = refOf(resource);
    const { status } = resource as { readonly status?: JsonObject };
    return {
      malformed: {
        ref,
        message: `${formatRef(ref)}: ${messageOf(error)}`,
        ...(excessOf(status) !== undefined || status === undefined ? {} : { status }),
      },
    };
  }
}

/** Whether two forms of an object differ in nothing but the API server's version: then nobody needs to hear of it. */
function isSame(before: Resource, after: Resource): boolean {
  // An object has one resourceVersion in all API versions.
  if (before.apiVersion !== after.apiVersion) return false;
  if (before.metadata.resourceVersion !== undefined && before.metadata.resourceVersion === after.metadata.resourceVersion) return true;
  return equalJson(unversioned(before), unversioned(after));
}

function unversioned(resource: Resource): Resource {
  const { resourceVersion: _, ...metadata } = resource.metadata;
  return { ...resource, metadata };
}

/** A cluster as a person calls it. */
function placeOf(cluster: Cluster): string {
  return cluster.name === "" ? "the management cluster" : cluster.name;
}
