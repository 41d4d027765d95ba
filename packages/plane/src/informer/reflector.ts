import { backoffMs, type Clock, type Kind, kindKeyOf, messageOf, onAbort, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { type Cluster, ClusterError, type ListOptions, type Malformed } from "@isthmus/ports";

/** What is seen of one kind in one cluster. */
export type ReflectorEvent<R extends Resource> =
  /** Every object there is: what was known and is not among `items` or `malformed` is gone. */
  | { readonly type: "listed"; readonly items: readonly R[]; readonly malformed: readonly Malformed[] }
  | { readonly type: "put"; readonly resource: R }
  | { readonly type: "removed"; readonly ref: ResourceRef }
  | { readonly type: "malformed"; readonly malformed: Malformed }
  /** The API server does not know the kind (any more). That says nothing about objects seen before. */
  | { readonly type: "unserved" }
  /** Nothing can be read; it will be tried again. That says nothing about objects seen before. */
  | { readonly type: "unavailable"; readonly message: string; readonly isForbidden?: true }
  /** It can be read again, from where it was broken off: nothing was missed. */
  | { readonly type: "resumed" };

export interface ReflectorOptions<R extends Resource> {
  readonly cluster: Cluster;
  readonly kind: Kind<R>;
  readonly list?: ListOptions;
  /** Gives what is kept of each listed object. Default: all of it. */
  readonly transform?: (resource: R) => R;
  /** Calls its listener with the `kindKeyOf` of each kind whose definition changed; the result takes that back. */
  readonly redefined?: (listener: (kindKey: string) => void) => () => void;
  /** Lists again so often, in milliseconds, whether or not the watch reported changes. Default: never. */
  readonly relistMs?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly emit: (event: ReflectorEvent<R>) => void;
}

/** Lists and watches one kind until aborted. Resolves then; never rejects for the world's faults. */
export async function runReflector<R extends Resource>(options: ReflectorOptions<R>, signal: AbortSignal): Promise<void> {
  const { cluster, kind, list = {}, transform, redefined, relistMs, clock, random, emit } = options;
  let resourceVersion: string | undefined;
  let failures = 0;
  let isInterrupted = false;
  /** How often in a row nothing could be followed from where it was listed. */
  let expiries = 0;
  /** Ends what is under way when the kind's definition has changed: then it is listed again, in a version that is served. */
  let round = new AbortController();
  const forgetDefinition = redefined?.((kindKey) => {
    if (kindKey === kindKeyOf(kind)) round.abort(new Error("its CRD has changed"));
  });
  const forgetAbort = onAbort(signal, () => round.abort(signal.reason));

  // A function of its own: one that continues to watch would keep all that was listed alive for as long.
  async function listed(within: AbortSignal): Promise<string> {
    const {
      items,
      malformed,
      resourceVersion: listedAt,
    } = await cluster.list(kind, { ...list, ...(transform === undefined ? {} : { transform }) }, within);
    isInterrupted = false;
    emit({ type: "listed", items, malformed });
    return listedAt;
  }

  async function read(within: AbortSignal): Promise<void> {
    resourceVersion ??= await listed(within);
    for await (const event of cluster.watch(kind, resourceVersion, { ...list, emitsAccepted: true }, within)) {
      // The first bookmark only says that the watch is accepted; one that then ends at once, over and over, is a failure still.
      if (event.resourceVersion !== resourceVersion) [failures, expiries] = [0, 0];
      resourceVersion = event.resourceVersion;
      if (isInterrupted) emit({ type: "resumed" });
      isInterrupted = false;
      if (event.type === "put") emit(event);
      else if (event.type === "removed") emit({ type: "removed", ref: refOf(event.resource) });
      else if (event.type === "malformed") emit(event);
    }
  }

  /** Says what failed, and gives how long to wait before the next try. */
  function failed(error: ClusterError): number {
    const { code, details } = error;
    if (code === "Expired") {
      resourceVersion = undefined;
      expiries++;
      // At once when the past is forgotten; but an API server that forgets faster than it lists is not asked for one list after the other.
      return expiries === 1 ? 0 : backoffMs(expiries - 1, WATCH_RETRY, random);
    }
    if (code === "Unserved" && resourceVersion !== undefined) {
      // It may be served in another version now; and served again, it may be another CRD with other objects: list again.
      resourceVersion = undefined;
      return 0;
    }
    failures++;
    isInterrupted = true;
    if (code === "Unserved") emit({ type: "unserved" });
    else emit({ type: "unavailable", message: messageOf(error), ...(code === "Forbidden" ? { isForbidden: true } : {}) });
    return Math.max(details.retryAfterMs ?? 0, backoffMs(failures, code === "Unserved" ? UNSERVED_RETRY : WATCH_RETRY, random));
  }

  async function relist(everyMs: number): Promise<void> {
    while (!signal.aborted) {
      // Rejects only when aborted.
      await clock.sleep(everyMs * (0.9 + 0.2 * random()), signal).catch(() => undefined);
      round.abort(new Error("relisting is due"));
    }
  }
  if (relistMs !== undefined) void relist(relistMs);

  while (!signal.aborted) {
    const { signal: within } = round;
    try {
      await read(within);
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof ClusterError) {
        const delay = failed(error);
        // Rejects when aborted, and when there is reason to try at once.
        if (delay > 0) await clock.sleep(delay, within).catch(() => undefined);
      } else if (!within.aborted) throw error;
    }
    if (!within.aborted || signal.aborted) continue;
    round = new AbortController();
    resourceVersion = undefined;
    failures = 0;
  }
  forgetDefinition?.();
  forgetAbort();
}

const WATCH_RETRY = { firstMs: 200, lastMs: 30_000 };
// A CRD that is being installed is usable about a second later.
const UNSERVED_RETRY = { firstMs: 1_000, lastMs: 15_000 };
