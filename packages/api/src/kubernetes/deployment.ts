import { defineKind } from "../shared/defineKind.ts";
import { projectedController } from "./controller.ts";
import { controllerSpec, controllerStatus } from "./schema.ts";

/** A Kubernetes Deployment, whose pods may be a workload. */
export const Deployment = defineKind(
  { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", fields: { spec: controllerSpec, status: controllerStatus } },
  projectedController,
);
export type Deployment = ReturnType<typeof Deployment.parse>;
