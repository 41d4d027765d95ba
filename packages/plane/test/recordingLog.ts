import type { Log } from "../src/ports.ts";

/** A log that keeps its warnings and errors for the test to look at. */
export function recordingLog(): Log & { readonly warnings: string[] } {
  const warnings: string[] = [];
  return {
    warnings,
    debug() {
      // Of no interest to a test.
    },
    info() {
      // Of no interest to a test.
    },
    warn(_, message) {
      warnings.push(message);
    },
    error(_, message) {
      warnings.push(message);
    },
  };
}
