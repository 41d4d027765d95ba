import { type Kind, messageOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { backoffMs } from "./backoff.ts";
import { type Clock, type Cluster, ClusterError, type ListOptions, type Malformed } from "./ports.ts";

/** What is seen of one kind in one cluster. */
export type FollowEvent<R extends Resource> =
  /** Every object there is: what was known and is not among `items` or `malformed` is gone. */
  | { readonly type: "listed"; readonly items: readonly R[]; readonly malformed: readonly Malformed[] }
  | { readonly type: "put"; readonly resource: R }
  | { readonly type: "removed"; readonly ref: ResourceRef }
  | { readonly type: "malformed"; readonly malformed: Malformed }
  /** The API server does not know the kind (any more). That says nothing about objects seen before. */
  | { readonly type: "unserved" }
  /** Nothing can be read; it will be tried again. That says nothing about objects seen before. */
  | { readonly type: "unavailable"; readonly message: string };

export interface FollowOptions<R extends Resource> {
  readonly cluster: Cluster;
  readonly kind: Kind<R>;
  readonly list?: ListOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly emit: (event: FollowEvent<R>) => void;
}

/** Lists and watches one kind until aborted. Resolves then; never rejects for the world's faults. */
export async function follow<R extends Resource>(options: FollowOptions<R>, signal: AbortSignal): Promise<void> {
  const { cluster, kind, list = {}, clock, random, emit } = options;
  let resourceVersion: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (resourceVersion === undefined) {
        const { items, malformed, resourceVersion: listedAt } = await cluster.list(kind, list, signal);
        emit({ type: "listed", items, malformed });
        resourceVersion = listedAt;
      }
      for await (const event of cluster.watch(kind, resourceVersion, list, signal)) {
        failures = 0;
        resourceVersion = event.resourceVersion;
        if (event.type === "put") emit(event);
        else if (event.type === "removed") emit({ type: "removed", ref: refOf(event.resource) });
        else if (event.type === "malformed") emit(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ClusterError)) throw error;
      if (error.code === "Expired") {
        resourceVersion = undefined;
        continue;
      }
      failures++;
      if (error.code === "Unserved") {
        // Served again, it may be another CRD with other objects: list anew.
        resourceVersion = undefined;
        emit({ type: "unserved" });
      } else {
        emit({ type: "unavailable", message: messageOf(error) });
      }
      const delay = error.code === "Unserved" ? UNSERVED_RETRY : WATCH_RETRY;
      await clock.sleep(Math.max(error.details.retryAfterMs ?? 0, backoffMs(failures, delay, random)), signal).catch(() => undefined);
    }
  }
}

const WATCH_RETRY = { firstMs: 200, lastMs: 30_000 };
// A CRD that is being installed is usable about a second later.
const UNSERVED_RETRY = { firstMs: 1_000, lastMs: 15_000 };
