import { Type } from "@sinclair/typebox";
import type { Value } from "./defineKind.ts";
import { fields, listOf, mapOf, oneOfWords, strings, uint32 } from "./schema.ts";

/** How far a mesh is from the root of its VirtualMesh. */
const trustProgressStatus = fields(
  {
    state: oneOfWords(["PENDING", "REQUESTED", "ISSUED", "FINISHED", "FAILED"], {
      description:
        "PENDING: nothing is reported or ordered yet. REQUESTED: waiting for a signature. ISSUED: installed, and not used by all proxies. FINISHED: used by all proxies. FAILED: will be retried.",
    }),
    step: oneOfWords(["TRUST_BOTH", "REISSUE", "RETIRE", "KEEP"], {
      description:
        "TRUST_BOTH: the new root is trusted beside the old one. REISSUE: certificates are signed below the new root. RETIRE: the old root is removed. KEEP: the root does not change.",
    }),
    since: Type.String({ format: "date-time", description: "Time at which this state and this step began." }),
    waitsFor: listOf(
      fields({
        mesh: Type.String({ description: "Mesh, as namespace/name." }),
        cluster: Type.String({ description: "Its cluster. Empty if the mesh is not discovered." }),
        offline: Type.Boolean({ description: "No agent of the cluster is connected." }),
      }),
      { description: "Meshes without which the next step is not taken." },
    ),
    blockedBy: Type.String({
      description: "What has to be restarted or corrected in this mesh next: the workload, or the reason for FAILED.",
    }),
  },
  { description: "Progress of the mesh towards the root of its VirtualMesh, where spec.mtlsConfig.shared is set." },
);

/** The progress of a mesh towards the root of its VirtualMesh. */
export type TrustProgressStatus = Value<typeof trustProgressStatus>;

/** How an object of a user stands. PENDING, the zero value, is never written. */
const approvalState = oneOfWords(["PENDING", "ACCEPTED", "INVALID", "FAILED"], {
  description:
    "ACCEPTED: valid and in force, possibly with warnings. INVALID: not in force, or not on all targets. FAILED: valid, but not all objects could be written.",
});

const approvalStatusFields = {
  acceptanceOrder: uint32({ description: "Position among the policies accepted on this target, starting at 0." }),
  state: approvalState,
  errors: strings({ description: "Why the object is INVALID or FAILED on this target." }),
  warnings: strings({ description: "Warnings about the object on this target." }),
};
const approvalStatus = fields(approvalStatusFields);

const byTarget = {
  description:
    "State on each target, by `name.namespace.` of the target: at most 1,000, those with errors or warnings first. The counts include all targets.",
};

/** How a policy stands on each of its targets, by `name.namespace.` of the target. */
export const approvalsByTarget = mapOf(approvalStatus, byTarget);

/** The same with the progress of the mesh's trust, for meshes. */
export const approvalsByMesh = mapOf(fields({ ...approvalStatusFields, trust: trustProgressStatus }), byTarget);

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

/** A status that is nothing but conditions. */
export function conditionStatus(description: string) {
  return {
    observedGeneration: Type.Integer({ format: "int64", description: "Generation of the object that this status was computed for." }),
    conditions: listOf(condition, { description, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  };
}

/** Columns of `kubectl get` for such a status with one condition. */
export function conditionColumns(type: string) {
  return [
    { name: type, type: "string", jsonPath: `.status.conditions[?(@.type=="${type}")].status` },
    { name: "Reason", type: "string", jsonPath: `.status.conditions[?(@.type=="${type}")].reason` },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Message", type: "string", jsonPath: `.status.conditions[?(@.type=="${type}")].message`, priority: 1 },
  ] as const;
}

/** The status fields that all kinds written by users share. */
export const approvalFields = {
  observedGeneration: Type.Integer({ format: "int64", description: "Generation of the object that this status was computed for." }),
  state: approvalState,
  errors: strings({ description: "Errors of the object as a whole." }),
  warnings: strings({ description: "Warnings about the object as a whole." }),
  warningCount: uint32({ description: "Number of warnings, including those on targets." }),
  conditions: listOf(condition, {
    description: "Conditions Accepted, Translated, Delivered and Applied.",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  }),
};

export type ApprovalStatus = Value<typeof approvalStatus>;

/** Columns of `kubectl get` that policies share. */
export const approvalColumns = [
  { name: "State", type: "string", jsonPath: ".status.state", description: "State of the object." },
  { name: "Targets", type: "integer", jsonPath: ".status.targetCount", description: "Number of targets." },
  { name: "Warnings", type: "integer", jsonPath: ".status.warningCount", description: "Number of warnings." },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "Applied", type: "string", jsonPath: '.status.conditions[?(@.type=="Applied")].status', priority: 1 },
  {
    name: "Message",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Accepted")].message',
    priority: 1,
    description: "Whether the object is valid, or its first error on any target.",
  },
] as const;
