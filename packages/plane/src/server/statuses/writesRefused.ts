import { shortenedMessage } from "@isthmus/api";
import { type Condition, formatRef } from "@isthmus/core";
import { isHeldCode, isPendingCode, type Rejection } from "@isthmus/ports";

/** What of the desired objects an agent could not write. */
export interface WriteRefusals {
  /** So many, or more: 1, 10, 100 ..., so that a status is not written for each of them. */
  readonly atLeast: number;
  /** The first of them and why, in words of the agent. */
  readonly example: string;
}

/** Undefined where all was written, or is only held or not allowed to be. */
export function writeRefusals(rejected: readonly Rejection[]): WriteRefusals | undefined {
  const refused = rejected.filter(({ code }) => !isPendingCode(code) && !isHeldCode(code));
  let first: { readonly name: string; readonly message: string } | undefined;
  for (const { ref, message } of refused) {
    const name = formatRef({ ...ref, clusterName: "" });
    if (first === undefined || name < first.name) first = { name, message };
  }
  if (first === undefined) return undefined;
  // An agent's words: of bounded length, on one line.
  const example = shortenedMessage(`${first.name}: ${first.message}`);
  return { atLeast: 10 ** Math.floor(Math.log10(refused.length)), example };
}

/** Says of a cluster that objects are not written as desired; nothing where all are. */
export function writesRefused(refusals: WriteRefusals | undefined): readonly Condition[] {
  if (refusals === undefined) return [];
  const { atLeast, example } = refusals;
  const count = atLeast === 1 ? "an object of those desired is" : `at least ${atLeast} of the desired objects are`;
  return [{ type: "WritesRefused", status: "True", reason: "NotWritten", message: `${count} not written: ${example}` }];
}
