import type { Workload } from "@isthmus/api";
import { refOf, resourceKeyOf, type Table } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import type { TranslatedTarget } from "../pipeline/targets.ts";
import { appliedRecords } from "./accessLogRecords.ts";
import { appliedDependencies } from "./serviceDependencies.ts";
import { appliedDeployments } from "./wasmDeployments.ts";

/** The status of a Workload: to which hosts its proxies are limited, what they log and run, and by whom; whether none of its pods is ready. */
export function workloadStatus(workload: Workload, targets: Table<TranslatedTarget>): object {
  const observed = { ...observedMetadata(workload), ...(workload.spec?.kubernetes?.noneReady === true ? { readiness: "0 ready" } : {}) };
  const target = targets.row(resourceKeyOf(refOf(workload)));
  return target === undefined
    ? observed
    : { ...observed, ...appliedRecords(target), ...appliedDeployments(target), ...appliedDependencies(target) };
}
