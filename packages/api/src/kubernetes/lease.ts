import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { foreignFields } from "./schema.ts";

/** A Kubernetes Lease: which of several replicas leads. Source: kubernetes.io/docs/concepts/architecture/leases. */
export const Lease = defineKind({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  fields: {
    spec: foreignFields({
      /** "" when it was given up. */
      holderIdentity: Type.String(),
      leaseDurationSeconds: Type.Integer(),
      /** RFC 3339 with microseconds, by the holder's clock. */
      acquireTime: Type.String(),
      renewTime: Type.String(),
      /** How often the holder has changed. */
      leaseTransitions: Type.Integer(),
    }),
  },
});
export type Lease = ReturnType<typeof Lease.parse>;
