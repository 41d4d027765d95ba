import { defineKind } from "../shared/defineKind.ts";
import { projectedController } from "./controller.ts";
import { controllerSpec, controllerStatus } from "./schema.ts";

/** A Kubernetes StatefulSet, whose pods may be a workload. */
export const StatefulSet = defineKind(
  { apiVersion: "apps/v1", kind: "StatefulSet", plural: "statefulsets", fields: { spec: controllerSpec, status: controllerStatus } },
  projectedController,
);
export type StatefulSet = ReturnType<typeof StatefulSet.parse>;
