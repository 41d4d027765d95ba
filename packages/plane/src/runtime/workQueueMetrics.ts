import { groupOf, type Metric, type ResourceRef } from "@isthmus/core";
import type { WorkQueueSizes } from "./workQueue.ts";

/** How much work is due, being done, or waiting to be tried again. */
export function workQueueMetrics(queues: Readonly<Record<string, WorkQueueSizes>>): readonly Metric[] {
  return Object.entries(queues).flatMap(([queue, sizes]) =>
    Object.entries(sizes).map(([state, value]): Metric => ({ name: "gloo_mesh_work_items", labels: { queue, state }, value })),
  );
}

/** As the dashboards of the field have it: `networking.mesh.gloo.solo.io/v1, Kind=TrafficPolicy`. */
export function gvkOf({ apiVersion, kind }: Pick<ResourceRef, "apiVersion" | "kind">): string {
  return `${groupOf(apiVersion) === "" ? `/${apiVersion}` : apiVersion}, Kind=${kind}`;
}
