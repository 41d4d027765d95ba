import { type AnyResource, type Kind, matchesSelector, onAbort, type Resource } from "@isthmus/core";
import { ClusterError, type ListOptions, type WatchEvent, type WatchOptions } from "@isthmus/ports";
import { expired } from "./errors.ts";
import type { ParsedObjects } from "./reads.ts";
import { inVersion, type SimulatedState } from "./state.ts";
import type { StoreChange, Watcher } from "./store.ts";

export interface WatchRequest<R extends Resource> {
  readonly kind: Kind<R>;
  readonly resourceVersion: string;
  readonly options: WatchOptions;
  /** How long events are under way now, in milliseconds. */
  readonly delayMs: () => number;
}

/** The changes of one kind after a version, until the watch is ended, expires, or is aborted (rejects with the signal's reason). */
export async function* watchObjects<R extends Resource>(
  state: SimulatedState,
  objects: ParsedObjects,
  { kind, resourceVersion, options, delayMs }: WatchRequest<R>,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<R>, void, undefined> {
  const { served, apiVersion } = state.servedVersion(kind);
  const { store } = served;
  let seen = revisionOf(resourceVersion, state.revision);
  if (seen < store.compacted) throw expired(resourceVersion, store.compacted);
  // The latest version that the reader knows of: bookmarks tell only of later ones.
  let told = seen;
  let wake: (() => void) | undefined;
  const watcher: Watcher = { wake: () => wake?.() };
  signal.throwIfAborted();
  const forget = onAbort(signal, () => wake?.());
  store.watchers.add(watcher);
  try {
    if (options.emitsAccepted === true) yield { type: "bookmark", resourceVersion };
    while (true) {
      signal.throwIfAborted();
      if (watcher.ended?.error !== undefined) throw watcher.ended.error;
      if (seen < store.lastForgotten) throw expired(String(seen), store.compacted);
      const changes = store.after(seen);
      if (changes.length > 0 && delayMs() > 0) await state.clock.sleep(delayMs(), signal);
      for (const change of changes) {
        seen = change.revision;
        const event = eventOf(change);
        if (event === undefined) continue;
        told = seen;
        yield event;
        signal.throwIfAborted();
      }
      if (changes.length > 0) continue;
      if (watcher.ended !== undefined) return;
      if (watcher.bookmark === true) {
        watcher.bookmark = false;
        if (seen > told) {
          told = seen;
          yield { type: "bookmark", resourceVersion: String(seen) };
        }
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    store.watchers.delete(watcher);
    forget();
  }

  /** What a change means to a watcher that sees only some objects: one that no longer matches is gone. */
  function eventOf({ revision, before, after }: StoreChange): WatchEvent<R> | undefined {
    const version = String(revision);
    if (after !== undefined && matches(after, options)) {
      const read = objects.read(kind, after, apiVersion);
      return "malformed" in read
        ? { type: "malformed", ...read, resourceVersion: version }
        : { type: "put", ...read, resourceVersion: version };
    }
    if (before === undefined || !matches(before, options)) return undefined;
    const removed = { ...inVersion(before, apiVersion), metadata: { ...before.metadata, resourceVersion: version } };
    return { type: "removed", resource: removed, resourceVersion: version };
  }
}

function matches({ metadata }: AnyResource, { namespace, name, labels }: ListOptions): boolean {
  return (
    (namespace === undefined || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    (labels === undefined || matchesSelector(labels, metadata.labels))
  );
}

function revisionOf(resourceVersion: string, latest: number): number {
  const revision = Number(resourceVersion);
  if (!Number.isInteger(revision) || revision < 0 || resourceVersion === "") {
    throw new ClusterError("Invalid", `resourceVersion: ${JSON.stringify(resourceVersion)} is not a version`, {
      fields: ["resourceVersion"],
    });
  }
  // An API server that was restored from an older backup would stay silent until it gets there.
  if (revision > latest) throw expired(resourceVersion, latest);
  return revision;
}
