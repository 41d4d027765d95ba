import { defineKind } from "../shared/defineKind.ts";
import { projectedController } from "./controller.ts";
import { controllerSpec, controllerStatus } from "./schema.ts";

/** A Kubernetes DaemonSet, whose pods may be a workload. */
export const DaemonSet = defineKind(
  { apiVersion: "apps/v1", kind: "DaemonSet", plural: "daemonsets", fields: { spec: controllerSpec, status: controllerStatus } },
  projectedController,
);
export type DaemonSet = ReturnType<typeof DaemonSet.parse>;
