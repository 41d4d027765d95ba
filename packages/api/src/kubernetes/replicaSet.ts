import { defineKind } from "../shared/defineKind.ts";
import { projectedTemplate } from "./controller.ts";
import { projectedMetadata } from "./project.ts";
import { replicaSetSpec } from "./schema.ts";

/**
 * A Kubernetes ReplicaSet: the link from a pod to its Deployment, of which only the metadata leaves the cluster. Of one that no Deployment made, such as
 * those of a Rollout of Argo, the template of its pods does, too: nothing else that agents watch says what its controller makes next.
 */
export const ReplicaSet = defineKind(
  { apiVersion: "apps/v1", kind: "ReplicaSet", plural: "replicasets", fields: { spec: replicaSetSpec } },
  ({ apiVersion, kind, metadata: { resourceVersion: _, generation: __, ...given }, spec }) => {
    const metadata = projectedMetadata(given, () => false);
    const isOfDeployment = metadata.ownerReferences?.some((owner) => owner.controller === true && owner.kind === "Deployment") === true;
    if (isOfDeployment || spec?.template === undefined) return { apiVersion, kind, metadata };
    return { apiVersion, kind, metadata, spec: { template: projectedTemplate(spec.template) } };
  },
);
export type ReplicaSet = ReturnType<typeof ReplicaSet.parse>;
