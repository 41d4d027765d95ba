import type { Log, LogFields } from "../src/ports.ts";

/** A line that was logged at debug level: what was done, step by step. */
export interface Step {
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that keeps its warnings and errors, and the steps, for the test to look at. */
export function recordingLog(): Log & { readonly warnings: string[]; readonly steps: Step[] } {
  const warnings: string[] = [];
  const steps: Step[] = [];
  return {
    warnings,
    steps,
    debug(fields, message) {
      steps.push({ message, fields });
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
