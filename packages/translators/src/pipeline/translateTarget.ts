import { formatRef, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../findings.ts";
import { effectiveAccessPolicies } from "../meshes/enforcedAccess.ts";
import {
  type DestinationInputs,
  emptyTranslation,
  type MeshInputs,
  mergeTranslations,
  type SelectedWorkloadInputs,
  type TargetTranslation,
  type VirtualDestinationInputs,
  type VirtualMeshInputs,
} from "../meshes/inputs.ts";
import { joinableMeshes, meshTranslators, meshTypeName, translatorOf } from "../meshes/meshTranslators.ts";

/** Whatever networking makes something of: one record of inputs each. */
export type TargetInputs = DestinationInputs | MeshInputs | VirtualMeshInputs | VirtualDestinationInputs | SelectedWorkloadInputs;

/** Of a mesh that is discovered and not configured: the one who wrote a policy for it must not take it for enforced. */
function notWritten({
  destination,
  mesh,
  trafficPolicies,
  accessPolicies,
  heldAccess,
  translationContext,
}: DestinationInputs): TargetTranslation {
  const [target, where] = [refOf(destination), formatRef(refOf(mesh))];
  const message = `${formatRef(target)} is in ${where}, ${meshTypeName(mesh)}, which is not configured, so this policy has no effect there: narrow the destinationSelector`;
  const reports = [...trafficPolicies, ...effectiveAccessPolicies({ accessPolicies, heldAccess }, translationContext.ages)].map((policy) =>
    reportOf(refOf(policy), warningFinding("MeshNotWritten", message), target),
  );
  return { outputs: [], reports };
}

/** Of a mesh that no VirtualMesh can join to others: the one who wrote one must not take it for joined. */
function notJoined({ mesh, virtualMesh }: MeshInputs): TargetTranslation {
  const { mtlsConfig, federation = {}, globalAccessPolicy = "MESH_DEFAULT" } = virtualMesh?.spec ?? {};
  const fields = [
    ...(mtlsConfig === undefined ? [] : ["mtlsConfig"]),
    ...((federation.selectors ?? []).length === 0 && federation.permissive === undefined ? [] : ["federation"]),
    ...(globalAccessPolicy === "MESH_DEFAULT" ? [] : ["globalAccessPolicy"]),
  ];
  if (virtualMesh === undefined || fields.length === 0) return emptyTranslation;
  const paths = fields.map((field) => `spec.${field}`).join(", ");
  const target = refOf(mesh);
  const message = `${paths}: no effect on ${formatRef(target)}, ${meshTypeName(mesh)}, because only ${joinableMeshes} can be joined: remove it from spec.meshes`;
  return { outputs: [], reports: [reportOf(refOf(virtualMesh), warningFinding("MeshNotWritten", message), target)] };
}

/** What was found when it was decided what is in force comes first. */
function virtualDestinationTranslation(inputs: VirtualDestinationInputs): TargetTranslation {
  const made = meshTranslators.map((translator) => translator.translateVirtualDestination?.(inputs) ?? emptyTranslation);
  return mergeTranslations([{ outputs: [], reports: inputs.reports }, ...made]);
}

/** Of a mesh whose proxies know all hosts, or are not configured. */
function notLimited({ workload, mesh, dependencies, accessLogRecords, wasmDeployments }: SelectedWorkloadInputs): TargetTranslation {
  const target = refOf(workload);
  const where = `${formatRef(target)} is in ${formatRef(refOf(mesh))}, ${meshTypeName(mesh)}`;
  const notLogged = `${where}, whose proxies are not configured, so this AccessLogRecord has no effect there: narrow the workloadSelectors`;
  const notRun = `${where}, whose proxies are not configured, so this WasmDeployment has no effect there: narrow the workloadSelector`;
  const message = `${where}, whose proxies cannot be limited to hosts, so this ServiceDependency has no effect there: narrow the sourceSelectors`;
  return {
    outputs: [],
    reports: [
      ...dependencies.map((one) => reportOf(refOf(one), warningFinding("MeshNotWritten", message), target)),
      ...accessLogRecords.map((one) => reportOf(refOf(one), warningFinding("MeshNotWritten", notLogged), target)),
      ...wasmDeployments.map((one) => reportOf(refOf(one), warningFinding("MeshNotWritten", notRun), target)),
    ],
  };
}

/** What networking makes of one target. */
export function translateTarget(inputs: TargetInputs): TargetTranslation {
  if ("destination" in inputs) {
    const translator = translatorOf(inputs.mesh);
    return translator === undefined ? notWritten(inputs) : translator.translateDestination(inputs);
  }
  if ("virtualDestination" in inputs) return virtualDestinationTranslation(inputs);
  if ("workload" in inputs) return translatorOf(inputs.mesh)?.translateWorkload?.(inputs) ?? notLimited(inputs);
  if ("mesh" in inputs) return translatorOf(inputs.mesh)?.translateMesh?.(inputs) ?? notJoined(inputs);
  return mergeTranslations(meshTranslators.map((translator) => translator.translateVirtualMesh?.(inputs) ?? emptyTranslation));
}
