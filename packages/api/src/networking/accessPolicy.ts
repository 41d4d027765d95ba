import { approvalColumns } from "../shared/approval.ts";
import type { Value } from "../shared/defineKind.ts";
import { defineKind } from "../shared/defineKind.ts";
import { listOf, port, strings, userFields } from "../shared/schema.ts";
import { destinationSelector, identitySelector } from "../shared/selectors.ts";
import { policyStatus } from "./trafficPolicy.ts";

const accessPolicySpec = userFields(
  {
    sourceSelector: listOf(identitySelector, { description: "Who may call: an entry must match. Empty: everyone.", maxItems: 256 }),
    destinationSelector: listOf(destinationSelector, {
      description: "Which destinations may be called: an entry must match. Empty: all.",
      maxItems: 256,
    }),
    allowedPaths: strings({
      description: "HTTP paths or gRPC methods (/package.Service/Method) that may be called; `*` may stand at an end. Empty: all.",
    }),
    allowedMethods: strings({ description: "HTTP methods that may be used, in capital letters. Empty: all." }),
    allowedPorts: listOf(port(), { description: "Ports of the workloads that may be called. Empty: all." }),
  },
  { description: "Who may call what." },
);

export type AccessPolicySpec = Value<typeof accessPolicySpec>;

/** Allows calls from selected identities to selected destinations. What no policy allows is refused once some policy is in force. */
export const AccessPolicy = defineKind({
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "AccessPolicy",
  plural: "accesspolicies",
  fields: { spec: accessPolicySpec, status: policyStatus },
  crd: {
    description: "Allows calls from selected identities to selected destinations.",
    shortNames: ["apol"],
    categories: ["gloo-mesh"],
    singular: "accesspolicy",
    printerColumns: approvalColumns,
  },
});

export type AccessPolicy = ReturnType<typeof AccessPolicy.parse>;
