import { EnvoyFilter, WASM_ANNOTATION, WASM_REVISION_ANNOTATION, type WasmDeployment, type WasmFilterOrder } from "@isthmus/api";
import { type Output, refOf } from "@isthmus/core";
import { reportOf } from "../../../findings.ts";
import { configurationOf, type DeployedFilter, wasmDeploymentFormOf } from "../../../policy/forms/wasmDeploymentForm.ts";
import { agentAddress } from "../../../policy/hosts/agentAddress.ts";
import { policyFilterName, wasmFilterName } from "../../../policy/policyFilterName.ts";
import { emptyTranslation, type SelectedWorkloadInputs, type TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";
import { coveringWorkload, workloadProblem } from "../workloadFilters.ts";
import { wasmPatchOf } from "./wasmPatch.ts";

/** For each WasmDeployment in force on a Workload, an EnvoyFilter that has its proxies ask their agent for the filters (docs/decisions/0120). */
export function wasmFiltersOf(inputs: SelectedWorkloadInputs): TargetTranslation {
  const { workload, wasmDeployments, agent, translationContext } = inputs;
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  if (controller === undefined || wasmDeployments.length === 0) return emptyTranslation;
  const problem = workloadProblem(inputs, "runs no Wasm filters");
  if (problem !== undefined) {
    return { outputs: [], reports: wasmDeployments.map((one) => reportOf(refOf(one), problem, refOf(workload))) };
  }
  const { namespace, clusterName } = controller;
  const address = agentAddress(translationContext, { clusterName, agent });
  if (address === undefined) return emptyTranslation;
  const priorities = prioritiesOf(wasmDeployments);
  const outputs = wasmDeployments.flatMap((deployment, i): readonly Output[] => {
    const { filters = [], workloadSelector = [] } = wasmDeploymentFormOf(deployment).spec ?? {};
    if (coveringWorkload(deployment, workloadSelector, inputs) !== undefined) return [];
    const identity = { name: wasmFilterName(deployment, workload), namespace, clusterName };
    const spec = {
      workloadSelector: { labels: podLabels },
      priority: priorities[i] ?? 0,
      configPatches: filters.map((filter, index) => wasmPatchOf({ filter, name: filterNameOf(deployment, index), address })),
    };
    const origin = originOf({ translationContext, parents: [deployment] });
    const annotations = {
      ...origin.annotations,
      [WASM_ANNOTATION]: JSON.stringify(filters.map((filter, index) => orderOf(filter, filterNameOf(deployment, index)))),
      ...revisionOf(deployment),
    };
    return [outputOf({ ...identity, origin: { ...origin, annotations } }, EnvoyFilter, spec)];
  });
  return { outputs, reports: [] };
}

/**
 * Which spec of which object is in force. Without it a WasmDeployment that is changed and changed back would say what it said before, and so an
 * answer that is older than the change would be one to it.
 */
function revisionOf(deployment: WasmDeployment): Readonly<Record<string, string>> {
  const { metadata, spec, status } = deployment;
  const isLastAccepted = wasmDeploymentFormOf(deployment).spec !== spec;
  const generation = isLastAccepted ? status?.lastAccepted?.generation : metadata.generation;
  // What an agent says of an object of its cluster may be long, and annotations have 256 KiB.
  const known = [metadata.uid?.slice(0, UID_LETTERS), generation].filter((one) => one !== undefined);
  return known.length === 0 ? {} : { [WASM_REVISION_ANNOTATION]: known.join("/") };
}

const UID_LETTERS = 36;

/** The name by which proxies ask for a filter. */
function filterNameOf(deployment: WasmDeployment, index: number): string {
  return policyFilterName("wasm", deployment, String(index));
}

/**
 * Istio applies those with a lower priority first, and each puts its filters right before the one that is named: what is applied later comes
 * later. Two of one priority would be in the order in which they happened to be written. Source: istio.io, EnvoyFilter, `priority`.
 */
function prioritiesOf(deployments: readonly WasmDeployment[]): readonly number[] {
  let last = -MOST_WEIGHT - 1;
  return deployments.map((deployment) => {
    const { weight = 0 } = wasmDeploymentFormOf(deployment).spec ?? {};
    last = Math.max(-Math.min(weight, MOST_WEIGHT), last + 1);
    return last === 0 ? 0 : last;
  });
}

// A priority is a signed number of 32 bits.
const MOST_WEIGHT = 2 ** 31 - 1;

function orderOf(filter: DeployedFilter, name: string): WasmFilterOrder {
  const { localPathSource, httpUriSource, wasmImageSource, rootId = "", vmId = "", failClosed = false } = filter;
  const config = configurationOf(filter);
  return {
    name,
    ...(wasmImageSource?.wasmImageTag === undefined ? {} : { image: wasmImageSource.wasmImageTag }),
    ...(httpUriSource === undefined ? {} : { uri: httpUriSource.uri ?? "", sha256: (httpUriSource.sha ?? "").toLowerCase() }),
    ...(localPathSource === undefined ? {} : { path: localPathSource }),
    ...(rootId === "" ? {} : { rootId }),
    ...(vmId === "" ? {} : { vmId }),
    ...(config === undefined ? {} : { config }),
    ...(failClosed ? { failClosed } : {}),
  };
}
