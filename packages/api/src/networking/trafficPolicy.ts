import { approvalColumns, approvalFields, approvalsByTarget } from "../shared/approval.ts";
import { defineKind } from "../shared/defineKind.ts";
import { lastAcceptedSpec } from "../shared/lastAcceptedSpec.ts";
import { fields, strings, uint32 } from "../shared/schema.ts";
import { trafficPolicySpec } from "./trafficPolicySpec.ts";

/** The fields that the statuses of TrafficPolicy and AccessPolicy share. */
export const policyStatusFields = {
  ...approvalFields,
  destinations: approvalsByTarget,
  workloads: strings({
    description: "Keys of the workloads whose traffic the policy applies to, at most 100. `workloadCount` counts all of them.",
  }),
  targetCount: uint32({ description: "Number of selected destinations." }),
  acceptedCount: uint32({ description: "Number of destinations on which the policy is in force." }),
  workloadCount: uint32({ description: "Number of workloads whose traffic the policy applies to." }),
};

/** Routing, resilience and connection settings for traffic from selected workloads to selected destinations. */
export const TrafficPolicy = defineKind({
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "TrafficPolicy",
  plural: "trafficpolicies",
  fields: {
    spec: trafficPolicySpec,
    status: fields({
      ...policyStatusFields,
      lastAccepted: lastAcceptedSpec(
        "The last accepted spec. It stays in force while a later spec has errors, or on destinations where that has some. Absent for a spec larger than 256 KiB: of that nothing stays.",
      ),
    }),
  },
  crd: {
    description: "Routing, resilience and connection settings for traffic from selected workloads to selected destinations.",
    shortNames: ["tpol"],
    categories: ["gloo-mesh"],
    singular: "trafficpolicy",
    printerColumns: approvalColumns,
  },
});

export type TrafficPolicy = ReturnType<typeof TrafficPolicy.parse>;
