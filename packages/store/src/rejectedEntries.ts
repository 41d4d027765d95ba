import type { Log } from "@isthmus/core";
import { keptText } from "@isthmus/core";

/** What was found in Redis and does not count, as no server of this plane wrote it there. */
export type RejectedEntry = "head" | "version" | "fence" | "record" | "object" | "notice";

export interface RejectedEntriesOptions {
  readonly place: string;
  /** Counts each of them. */
  readonly refused: (what: RejectedEntry) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
}

/** Counts what is refused. Anyone who writes to Redis does not fill the log: there is one line for each place an hour, and ten in a minute. */
export function rejectedEntries({ place, refused, now, log }: RejectedEntriesOptions): (what: RejectedEntry, where: string) => void {
  const said = new Map<string, number>();
  let minute = 0;
  let lines = 0;
  return (what, where) => {
    refused(what);
    const time = now();
    const shown = keptText(where, LONGEST_PLACE);
    const name = `${what} ${shown}`;
    if (time - (said.get(name) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    if (time - minute >= 60_000) [minute, lines] = [time, 0];
    if (lines >= LINES) return;
    lines++;
    if (said.size >= PLACES) said.clear();
    said.set(name, time);
    log.error(
      { what },
      `${place}: ignoring the ${what} ${shown}: it is not signed by a management server of this management plane, or was changed or moved. ` +
        "Check what else writes to this Redis, and that all servers use the same Secret with the key of the store",
    );
  };
}

const QUIET_MS = 3_600_000;
const LINES = 10;
const PLACES = 1_000;
const LONGEST_PLACE = 300;
