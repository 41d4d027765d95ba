import type { ResourceRef } from "@isthmus/core";
import type { DeletionEvidence } from "@isthmus/ports";

/** What became of one object that was to go, and why it was to. */
export interface DeletionRecord {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `Ordered`: the server no longer wants it. `Removed`: it is gone. `Left`: it stays, as it is not ours or was refused. */
  readonly step: "Ordered" | "Removed" | "Left";
  readonly object: ResourceRef;
  /** In words. */
  readonly reason: string;
  /** Which inputs vanished or changed, in which snapshot. None: a complete set did not hold the object. */
  readonly evidence?: DeletionEvidence;
  readonly traces?: readonly string[];
}

/** The last removals, for the one who asks why something is gone. */
export interface DeletionLog {
  record(entry: Omit<DeletionRecord, "at">): void;
  /** Oldest first. */
  readonly entries: readonly DeletionRecord[];
}

/** Keeps the last `size` removals; older ones are dropped. `now` gives milliseconds since 1970. */
export function deletionLog(now: () => number, size = KEPT): DeletionLog {
  let entries: DeletionRecord[] = [];
  return {
    record(entry) {
      entries.push({ at: now(), ...entry });
      // Now and then, so that a record costs the same however many are kept.
      if (entries.length >= 2 * size) entries = entries.slice(-size);
    },
    get entries() {
      return entries.slice(-size);
    },
  };
}

const KEPT = 1_000;
