import type { Log } from "@isthmus/plane/ports";

/** A log that nobody reads. */
export const silentLog: Log = { debug: silence, info: silence, warn: silence, error: silence };

function silence(): void {
  // Of no interest.
}
