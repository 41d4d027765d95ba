import type { Log, LogFields } from "@isthmus/core";

/** A line that was logged at debug level: what was done, step by step. */
export interface Step {
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that keeps what it is reported, for the test to look at. */
export function recordingLog(): Log & { readonly warnings: string[]; readonly infos: string[]; readonly steps: Step[] } {
  const warnings: string[] = [];
  const infos: string[] = [];
  const steps: Step[] = [];
  return {
    warnings,
    infos,
    steps,
    debug(fields, message) {
      steps.push({ message, fields });
    },
    info(_, message) {
      infos.push(message);
    },
    warn(_, message) {
      warnings.push(message);
    },
    error(_, message) {
      warnings.push(message);
    },
  };
}
