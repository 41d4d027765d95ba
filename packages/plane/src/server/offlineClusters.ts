import { nanosecondsOf, Settings } from "@isthmus/api";
import { type Clock, type Kind, uptimeOf } from "@isthmus/core";
import type { Informer } from "../informer/informer.ts";
import type { SnapshotStore } from "../snapshots/snapshotStore.ts";
import { wasExcluded } from "./statuses/endpointsExcluded.ts";

/** Which clusters have been away for so long that others are to call them no more (docs/decisions/0071). */
export interface OfflineClusters {
  /** Their names, as of now; the very same while none comes or goes. */
  excluded(): ReadonlySet<string>;
}

export interface OfflineClustersOptions {
  readonly view: () => Pick<Informer, "snapshot">;
  readonly store: Pick<SnapshotStore, "clusters">;
  readonly namespace: string;
  readonly registration: Kind;
  readonly clock: Clock;
  /** Called when others are excluded than were asked for last. */
  readonly changed: () => void;
}

const [DEFAULT_MS, LEAST_MS, LOOK_MS] = [300_000, 30_000, 5_000] as const;

/**
 * A cluster is offline from when this replica first saw it without an agent; one that was excluded when this replica first saw it has been
 * away for long enough (docs/decisions/0088).
 */
export function offlineClusters(options: OfflineClustersOptions, signal: AbortSignal): OfflineClusters {
  const { view, store, namespace, registration, clock, changed } = options;
  /** By cluster, since when it has been away, by `uptimeOf`. */
  const awaySince = new Map<string, number>();
  const met = new Set<string>();
  let told: ReadonlySet<string> = new Set();

  function look(): void {
    const known = new Set<string>();
    for (const cluster of view().snapshot.of(registration)) {
      const { name } = cluster.metadata;
      if (cluster.metadata.namespace !== namespace) continue;
      known.add(name);
      // Later, it is what this replica says itself, or did before an agent came and went.
      const isTold = !met.has(name) && wasExcluded(cluster);
      met.add(name);
      if (store.clusters.get(name)?.connected === true) awaySince.delete(name);
      else if (!awaySince.has(name)) awaySince.set(name, isTold ? Number.NEGATIVE_INFINITY : uptimeOf(clock));
    }
    for (const names of [awaySince, met]) for (const name of names.keys()) if (!known.has(name)) names.delete(name);
  }

  function current(): ReadonlySet<string> {
    look();
    const after = excludeAfterMs(view(), namespace);
    const names = after === undefined ? [] : [...awaySince].flatMap(([name, since]) => (uptimeOf(clock) - since >= after ? [name] : []));
    return names.length === told.size && names.every((name) => told.has(name)) ? told : new Set(names.sort());
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      // Rejects when there is nothing to do any more.
      await clock.sleep(LOOK_MS, signal).catch(() => undefined);
      if (!signal.aborted && current() !== told) changed();
    }
  }
  void watch();

  return {
    excluded() {
      told = current();
      return told;
    },
  };
}

/** Undefined: none is ever excluded. */
function excludeAfterMs({ snapshot }: Pick<Informer, "snapshot">, namespace: string): number | undefined {
  const { excludeOffline } = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" })?.spec?.failover ?? {};
  if (excludeOffline === undefined) return undefined;
  const nanoseconds = excludeOffline.after === undefined ? undefined : nanosecondsOf(excludeOffline.after);
  return nanoseconds === undefined ? DEFAULT_MS : Math.max(LEAST_MS, nanoseconds / 1e6);
}
