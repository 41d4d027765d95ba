import type { Malformed } from "./ports.ts";
import type { StatusUpdate } from "./server/statusWriter.ts";

/** Of what a user asked of us and cannot be understood: INVALID, with the reason, and not in force. */
export function malformedStatus({ ref, message, status }: Malformed): StatusUpdate {
  const condition = { type: "Accepted", status: "False", reason: "Malformed", message };
  return {
    ref,
    status: { state: "INVALID", errors: [message], conditions: [condition] },
    malformed: status === undefined ? {} : { status },
  };
}
