import type { Log } from "@isthmus/core";

/** A log that nobody reads. */
export const silentLog: Log = { debug: silence, info: silence, warn: silence, error: silence };

function silence(): void {
  // Of no interest.
}
