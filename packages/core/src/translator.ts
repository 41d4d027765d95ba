import type { OutputSet } from "./outputSet.ts";
import type { Report } from "./report.ts";
import type { Snapshot } from "./snapshot.ts";

/** What a translator wants to exist, and what it found in users' resources. */
export interface Translation {
  readonly outputs: OutputSet;
  readonly reports: readonly Report[];
}

/** A pure function: equal snapshots give equal translations; never throws for user input. */
export type Translator<Options = void> = (snapshot: Snapshot, options: Options) => Translation;
