import {
  type AnyResource,
  type CooperativeTask,
  type Delta,
  inKeyOrder,
  keyOfResource,
  kindKeyOf,
  type Log,
  type Metric,
  messageOf,
  parseCompact,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
} from "@isthmus/core";
import type { StoreDelta } from "@isthmus/ports";
import { type SnapshotStore, withoutRepeats } from "../snapshots/snapshotStore.ts";
import { contentIn } from "./inputFeed.ts";
import type { PartitionRead } from "./partitionLoader.ts";

/** Makes of the store's texts what clusters hold. */
export interface InputTexts {
  /** A cluster as it was known, with the kinds in `whole` as they were read. */
  snapshotFrom(clusterName: string, before: Snapshot, whole: PartitionRead["whole"]): CooperativeTask<Snapshot>;
  /** A cluster as it is known, after a write. */
  snapshotAfter(clusterName: string, delta: StoreDelta): Snapshot;
  /** How many objects were refused, by their cluster and why. */
  metrics(): readonly Metric[];
}

export interface InputTextsOptions {
  readonly snapshots: Pick<SnapshotStore, "snapshotIn" | "isReported" | "parsed">;
  /** Whether an object may be under the name of a cluster. Default: it is of that cluster. */
  readonly isIn?: (resource: Resource, clusterName: string) => boolean;
  readonly log: Log;
}

/** Objects that are not of their cluster or kind, too much for one, or not even JSON, are left out and reported. */
export function inputTexts({ snapshots, isIn = isOfCluster, log }: InputTextsOptions): InputTexts {
  function deltaFrom(clusterName: string, { erase, put, remove }: StoreDelta): Delta {
    const known = contentIn(snapshots.snapshotIn(clusterName));
    const gone = [
      ...erase.flatMap((kindKey) => known.objects(kindKey)),
      ...remove.flatMap(({ kindKey, key }) => known.at(kindKey, key) ?? []),
    ];
    const back = new Set(put.map(({ kindKey, key }) => `${kindKey}|${key}`));
    return {
      put: put.flatMap(({ text }) => resourceFrom(text, clusterName) ?? []),
      remove: gone.map(refOf).filter((ref) => !back.has(resourceKeyOf(ref))),
    };
  }

  const refused = new Map<string, Metric>();

  function refuse(cluster: string, reason: string, problem: string): undefined {
    const name = `${cluster} ${reason}`;
    const value = (refused.get(name)?.value ?? 0) + 1;
    refused.set(name, { name: "gloo_mesh_store_objects_refused_total", labels: { cluster, reason }, value });
    // The first says what it is about; the metric counts them all.
    if (value === 1) log.error({ cluster }, `the store has ${problem} under ${cluster}: ignoring it`);
    return undefined;
  }

  /** What is said of this cluster and of no other, and is of a kind that agents report; undefined for anything else. */
  function resourceFrom(text: string, clusterName: string): Resource | undefined {
    try {
      const resource = parseCompact(text) as AnyResource;
      if (!isIn(resource, clusterName)) return refuse(clusterName, "OtherCluster", "an object of another cluster");
      if (!snapshots.isReported(kindKeyOf(resource))) return refuse(clusterName, "Kind", `a ${resource.kind}, which agents do not report,`);
      return snapshots.parsed(clusterName, resource);
    } catch (error) {
      return refuse(clusterName, "Invalid", `an entry that is not an object (${messageOf(error)})`);
    }
  }

  return {
    metrics: () => [...refused.values()],
    *snapshotFrom(clusterName, before, whole) {
      let now = before;
      const known = contentIn(before);
      for (const [kindKey, texts] of whole) {
        let part: Resource[] = [];
        // In the order of their keys each part is put at the end of what is there, which is not copied for it.
        for (const [, text] of yield* inKeyOrder([...texts])) {
          const resource = resourceFrom(text, clusterName);
          if (resource !== undefined) part.push(resource);
          yield;
          if (part.length < PART) continue;
          now = now.apply(withoutRepeats(before, { put: part, remove: [] }));
          part = [];
        }
        const gone = known.objects(kindKey).filter((resource) => !texts.has(keyOfResource(resource)));
        now = now.apply(withoutRepeats(before, { put: part, remove: gone.map(refOf) }));
        yield;
      }
      return now;
    },
    snapshotAfter(clusterName, delta) {
      const known = snapshots.snapshotIn(clusterName);
      return known.apply(withoutRepeats(known, deltaFrom(clusterName, delta)));
    },
  };
}

function isOfCluster(resource: Partial<Resource> | null, clusterName: string): boolean {
  return resource?.metadata !== undefined && (resource.metadata.clusterName ?? "") === clusterName;
}

// A few milliseconds.
const PART = 500;
