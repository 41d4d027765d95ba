import { Type } from "@sinclair/typebox";
import type { Value } from "./defineKind.ts";
import { fields, listOf, mapOf, oneOfWords, strings, uint32 } from "./schema.ts";

/** How an object of a user stands. PENDING, the zero value, is never written. */
const approvalState = oneOfWords(["PENDING", "ACCEPTED", "INVALID", "FAILED"], {
  description:
    "ACCEPTED: valid and in force, perhaps with warnings. INVALID: not in force, or not everywhere. FAILED: valid, but not all of it could be written.",
});

const approvalStatus = fields({
  acceptanceOrder: uint32({ description: "Place among the policies accepted on this target, first 0." }),
  state: approvalState,
  errors: strings({ description: "Why it is INVALID or FAILED here." }),
  warnings: strings({ description: "What to know although it is in force here." }),
});

/** How a policy stands on each of its targets, by `name.namespace.` of the target. */
export const approvalsByTarget = mapOf(approvalStatus, {
  description:
    "How it stands on each target, by `name.namespace.` of the target: no more than 1,000, those with errors or warnings first. The counts are of all.",
});

/** A standard Kubernetes condition. */
const condition = fields(
  {
    type: Type.String(),
    status: oneOfWords(["True", "False", "Unknown"]),
    reason: Type.String(),
    message: Type.String(),
    lastTransitionTime: Type.String({ format: "date-time" }),
    observedGeneration: Type.Integer({ format: "int64" }),
  },
  { required: ["type"] },
);

/** The status fields that all kinds written by users share. */
export const approvalFields = {
  observedGeneration: Type.Integer({ format: "int64", description: "The generation of the object that this status is about." }),
  state: approvalState,
  errors: strings({ description: "What is wrong with the object as a whole." }),
  warnings: strings({ description: "What to know about the object as a whole." }),
  warningCount: uint32({ description: "Number of warnings, those on targets included." }),
  conditions: listOf(condition, {
    description: "Accepted, Translated, Delivered, Applied.",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  }),
};

export type ApprovalStatus = Value<typeof approvalStatus>;

/** Columns of `kubectl get` that policies share. */
export const approvalColumns = [
  { name: "State", type: "string", jsonPath: ".status.state", description: "How the object stands." },
  { name: "Targets", type: "integer", jsonPath: ".status.targetCount", description: "Number of targets." },
  { name: "Warnings", type: "integer", jsonPath: ".status.warningCount", description: "Number of warnings." },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "Applied", type: "string", jsonPath: '.status.conditions[?(@.type=="Applied")].status', priority: 1 },
  {
    name: "Message",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Accepted")].message',
    priority: 1,
    description: "Whether it is valid, or the first error, on whichever target.",
  },
] as const;
