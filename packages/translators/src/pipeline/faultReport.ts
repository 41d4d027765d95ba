import { keptText, messageOf, type Report } from "@isthmus/core";
import type { TranslationFault } from "./translate.ts";

/** What is said of an object that translation throws on. */
export function faultReport(fault: TranslationFault): Report {
  return { subject: fault.ref, state: "FAILED", code: INTERNAL_ERROR, message: faultMessage(fault.error, effectOf(fault)) };
}

export const INTERNAL_ERROR = "InternalError";

/** The sentence about a throw, with what it means for its object. */
export function faultMessage(error: unknown, effect: string): string {
  const text = keptText(messageOf(error), MOST_READ).replace(/\s+/g, " ");
  const name = error instanceof Error ? error.name : "Error";
  const cut = text.length > LONGEST ? `${keptText(text, LONGEST - 3)}...` : text;
  return `internal error (${name}: ${cut}): ${effect}; this is a bug of the management plane: report it with the log of the server`;
}

// It may repeat what stands in the object.
const LONGEST = 200;
const MOST_READ = 1_000;

/** What is in force of an AccessPolicy that is replaced by one that closes what it is about. */
export const CLOSED = "this policy is in force as it was last accepted, or allows no callers";

function effectOf({ inPlace, isClosed, isGone }: TranslationFault): string {
  if (isGone) return "this object was deleted, and what follows from it stays";
  if (isClosed) return CLOSED;
  return inPlace === undefined ? "nothing follows from this object" : "this object is in force as it last was";
}
