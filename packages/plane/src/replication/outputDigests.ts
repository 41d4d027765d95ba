import { type Clock, canonicalJson, emptyOutputSet, type OutputSet } from "@isthmus/core";
import type { KindDigest } from "@isthmus/ports";
import { digestOfKinds, type KindSum, type KindSums, sumAfter } from "./digests.ts";
import { splitKey } from "./keys.ts";

/** Digests of what is desired in each cluster, each made from the one before: a digest costs what changed. */
export interface OutputDigests {
  /**
   * One after the other, with pauses where much has changed: after a start all clusters are due at once, and nobody is to wait for
   * more than a part of one.
   */
  digestOf(clusterName: string, wanted: OutputSet): Promise<KindDigest>;
  /** One digest of everything that is known now. */
  total(): KindDigest;
  forget(clusterName: string): void;
}

interface Known {
  readonly wanted: OutputSet;
  readonly sums: KindSums;
}

/**
 * Keeps, per cluster, the set that was digested last: the first digest of a cluster costs all of its outputs. By `clock` other work has its
 * turn after every 200 changes.
 */
export function outputDigests(clock: Clock): OutputDigests {
  const known = new Map<string, Known>();
  /** Of all clusters together: many small ones in a row would make no pause otherwise. */
  let count = 0;

  async function compute(clusterName: string, wanted: OutputSet): Promise<KindDigest> {
    const { wanted: before, sums: old } = known.get(clusterName) ?? { wanted: emptyOutputSet(wanted.owner), sums: new Map() };
    const sums = new Map<string, KindSum>(old);
    for (const change of wanted.changesSince(before)) {
      const { kindKey, key } = splitKey(change.key);
      const texts = [change.before, change.after].map((output) => (output === undefined ? undefined : canonicalJson(output.resource)));
      sums.set(kindKey, sumAfter(sums.get(kindKey), key, texts[0], texts[1]));
      if (++count % PAUSE_AFTER === 0) await clock.sleep(0);
    }
    known.set(clusterName, { wanted, sums });
    return digestOfKinds(sums.values());
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    digestOf(clusterName, wanted) {
      const turn = last.then(() => compute(clusterName, wanted));
      last = turn.catch(() => undefined);
      return turn;
    },
    total: () => digestOfKinds([...known.values()].flatMap(({ sums }) => [...sums.values()])),
    forget(clusterName) {
      known.delete(clusterName);
      // What is under way or waits would bring it back.
      last = last.then(() => known.delete(clusterName));
    },
  };
}

// So long does nothing else happen at most: some milliseconds.
const PAUSE_AFTER = 200;
