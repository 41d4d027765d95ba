import { formatRef } from "@isthmus/core";
import type { DeletionEvidence } from "@isthmus/ports";

/** Why an object goes, in words for the log. */
export function deletionReason({ reason, inputs, snapshot }: DeletionEvidence): string {
  const since = snapshot === undefined ? "" : ` (snapshot ${snapshot})`;
  return `${reason === "InputRemoved" ? "source deleted" : "source changed"}: ${inputs.map(formatRef).join(", ")}${since}`;
}
