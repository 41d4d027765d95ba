import type { WasmDeployment } from "@isthmus/api";
import { exactly } from "@isthmus/core";
import { wasmDeploymentFormOf } from "../../../policy/forms/wasmDeploymentForm.ts";
import { type AgeSource, precedence } from "../../../policy/precedence.ts";
import { workloadMatching } from "../workloadMatching.ts";

/** WasmDeployments and the Workloads that they select. */
export const { selecting: selectingDeployments, first: firstExtended } = workloadMatching((deployment: WasmDeployment) => {
  const { spec } = wasmDeploymentFormOf(deployment);
  return spec && (spec.workloadSelector ?? NONE);
});

/** In the order in which requests reach their filters: those with a higher weight first, of equal weights the older one. */
export function inFilterOrder(deployments: readonly WasmDeployment[], ages: AgeSource): readonly WasmDeployment[] {
  if (deployments.length < 2) return deployments;
  const older = precedence(ages);
  return exactly([...deployments].sort((a, b) => weightOf(b) - weightOf(a) || older(a, b)));
}

function weightOf(deployment: WasmDeployment): number {
  return wasmDeploymentFormOf(deployment).spec?.weight ?? 0;
}

const NONE: readonly never[] = [];
