import { keptText } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, uint32 } from "../shared/schema.ts";

/** Longer messages of Cilium are cut, by their sender and by those that repeat them. */
const LONGEST_MESSAGE = 512;

const status = fields({
  valid: Type.Boolean({ description: "Whether Cilium accepts the policy. Absent: it has not said so, as before version 1.17." }),
  message: Type.String({ description: "Its reason, where it does not." }),
  endpoints: uint32({ description: "Number of pods that the policy selects. Absent: unknown." }),
  enforcing: uint32({ description: "Number of those of them at which policies for incoming traffic are enforced." }),
});

/**
 * What an agent reads back of a CiliumNetworkPolicy that was written for the plane, whose name it has: no more than a few numbers, which
 * change much less often than what they are made of. No cluster stores it.
 */
export const CiliumPolicyReport = defineKind({
  apiVersion: "reports.mesh.gloo.solo.io/v1",
  kind: "CiliumPolicyReport",
  plural: "ciliumpolicyreports",
  fields: { status },
});
export type CiliumPolicyReport = ReturnType<typeof CiliumPolicyReport.parse>;
export type CiliumPolicyState = Value<typeof status>;

/** Words of Cilium, as they are passed on: of bounded length, and on one line. */
export function shortenedMessage(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length <= LONGEST_MESSAGE ? line : `${keptText(line, LONGEST_MESSAGE)}...`;
}
