import { approvalColumns, approvalFields, approvalsByTarget } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { lastAcceptedSpec } from "../shared/lastAcceptedSpec.ts";
import { fields, listOf, uint32, userFields } from "../shared/schema.ts";
import { destinationSelector, workloadSelector } from "../shared/selectors.ts";

const serviceDependencySpec = userFields(
  {
    sourceSelectors: listOf(workloadSelector, {
      description: "Workloads that depend on the destinations: at least one entry must match. Empty: all workloads.",
      maxItems: 256,
    }),
    destinationSelectors: listOf(destinationSelector, {
      description:
        "Destinations that these workloads call: at least one entry must match. Empty: all, so that nothing is limited. Several ServiceDependencies of one workload add up.",
      maxItems: 256,
    }),
  },
  { description: "What some workloads call: their proxies get the configuration of these hosts only." },
);

export type ServiceDependencySpec = Value<typeof serviceDependencySpec>;

/** What some workloads call, so that their proxies need to know nothing else. */
export const ServiceDependency = defineKind({
  apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
  kind: "ServiceDependency",
  plural: "servicedependencies",
  fields: {
    spec: serviceDependencySpec,
    status: fields({
      ...approvalFields,
      workloads: approvalsByTarget,
      targetCount: uint32({ description: "Number of workloads that it selects." }),
      acceptedCount: uint32({ description: "Number of those on which it is not refused." }),
      lastAccepted: lastAcceptedSpec(
        "The last spec without errors. It stays in force while a later spec has errors. Absent for a spec larger than 256 KiB: of that nothing stays.",
      ),
    }),
  },
  crd: {
    description: "What some workloads call: their proxies get the configuration of these hosts only.",
    shortNames: ["sdep"],
    categories: ["gloo-mesh"],
    singular: "servicedependency",
    printerColumns: approvalColumns,
  },
});

export type ServiceDependency = ReturnType<typeof ServiceDependency.parse>;
