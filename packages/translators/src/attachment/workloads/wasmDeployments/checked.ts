import { WasmDeployment } from "@isthmus/api";
import { wasmDeploymentFormOf } from "../../../policy/forms/wasmDeploymentForm.ts";
import { workloadPolicyChecks } from "../workloadPolicyChecks.ts";
import { firstExtended } from "./matching.ts";

/** What is to be said of each WasmDeployment by itself. */
export const wasmDeploymentChecks = workloadPolicyChecks({
  kind: WasmDeployment,
  formOf(deployment: WasmDeployment) {
    const { spec, findings } = wasmDeploymentFormOf(deployment);
    return { selectors: spec && (spec.workloadSelector ?? []), findings };
  },
  first: firstExtended,
  selectors: "spec.workloadSelector: selects",
  consequence: "nothing is written",
});
