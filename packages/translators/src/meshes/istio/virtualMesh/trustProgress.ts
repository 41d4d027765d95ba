import type { IssuedCertificate, IssuedCertificateSpec, Mesh, VirtualMesh } from "@isthmus/api";
import { equalJson, formatRef, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import type { MeshInputs } from "../../inputs.ts";

/**
 * How far a mesh is from the root of its VirtualMesh, as its agent reports. Nothing is said of a mesh whose proxies all use it: then it
 * is carried out. `asked`: what is asked of the agent now; undefined: nothing can be.
 */
export function trustProgress(
  { mesh, issued }: Pick<MeshInputs, "mesh" | "issued">,
  virtualMesh: VirtualMesh,
  asked: IssuedCertificateSpec | undefined,
): readonly Report[] {
  if (issued?.status?.state === "FINISHED" && isAbout(asked, issued)) return [];
  const message = `${FIELD}: ${formatRef(refOf(mesh))} ${stateOf(mesh, issued, asked)}; until then the trust that it has stays in force`;
  return [reportOf(refOf(virtualMesh), warningFinding("CertificatesNotIssued", message), refOf(mesh))];
}

/** Whether a report is about what is asked now: an agent repeats the order that it has followed, which may be an earlier one. */
export function isAbout(asked: IssuedCertificateSpec | undefined, { spec: followed }: IssuedCertificate): boolean {
  const demand = ({ glooMeshCa, agentCa, certOptions }: IssuedCertificateSpec) => ({ glooMeshCa, agentCa, certOptions });
  return asked !== undefined && equalJson(demand(asked), demand(followed ?? {}));
}

function stateOf(mesh: Mesh, issued: IssuedCertificate | undefined, asked: IssuedCertificateSpec | undefined): string {
  const cluster = mesh.spec?.istio?.installation?.cluster ?? "";
  if (mesh.spec?.agentInfo === undefined) {
    return `has no certificates of the root: no agent runs in cluster ${cluster} that could make a key there: install the agent`;
  }
  // Without a status it is what we ask for, as we wrote it.
  if (issued?.status === undefined) {
    return (
      `has no certificates of the root: the agent of cluster ${cluster} has not reported any: check that it is connected and ` +
      "that it is not of an earlier version; in a cluster that is connected without an agent, that an agent for certificates runs there"
    );
  }
  const { state, error } = issued.status;
  if (state === "FAILED") return `is left as it is: ${error ?? "the agent gives no reason"}`;
  if (state === "FINISHED" && !isAbout(asked, issued))
    return "has certificates of an earlier root or of earlier options: its agent has not answered yet";
  const { step } = issued.spec?.trust ?? {};
  if (state === "REQUESTED") return "waits for its certificate to be signed by the management server (step REISSUE)";
  if (step === undefined && issued.spec?.agentCa !== undefined) return "waits for the root of Vault to be read by the agents of all meshes";
  if (step === undefined) return "waits for the root to be generated or read by the management server";
  return `is at step ${step}, ${STEPS[step]}${waiting(issued)}`;
}

const STEPS = {
  TRUST_BOTH: "in which its proxies come to trust the new root beside the old one",
  REISSUE: "in which its proxies get certificates of the new root",
  RETIRE: "in which its proxies cease to trust the old root",
  KEEP: "in which its proxies take over what is installed",
} as const;

/** What has to happen next, and who does it. */
function waiting(issued: IssuedCertificate): string {
  const blocker = trustBlocker(issued);
  if (blocker !== undefined) return `: ${blocker}`;
  const { waitsFor = [] } = issued.spec?.trust ?? {};
  return waitsFor.length === 0 ? "" : `: it waits for ${waitsFor.join(", ")}`;
}

/** What has to restart in a mesh before its next step, or why that does not happen, and what is left out of it; undefined: nothing. */
export function trustBlocker(issued: IssuedCertificate): string | undefined {
  const texts = [restartBlocker(issued), leftText(issued)].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join("; ");
}

/** Workloads that nobody waits for: they are named until they are restarted. */
function leftText({ status }: IssuedCertificate): string | undefined {
  const { left = [] } = status ?? {};
  if (left.length === 0) return undefined;
  const named = `${left.slice(0, MOST_NAMED).join(", ")}${left.length > MOST_NAMED ? ", …" : ""}`;
  return `restart these workloads, which were left out of the change of root and use certificates of before: ${named}`;
}

function restartBlocker({ spec, status, metadata }: IssuedCertificate): string | undefined {
  if (status?.restart !== undefined) return status.restart;
  const { isControlPlaneOutdated, podsToRestart = [], podsToRestartCount = podsToRestart.length } = status ?? {};
  const namespace = spec?.issuedCertificateSecret?.namespace ?? "";
  if (isControlPlaneOutdated === true) {
    return `restart istiod in namespace ${namespace} of cluster ${metadata.clusterName ?? ""}, which has not read the new Secret ${namespace}/cacerts`;
  }
  if (podsToRestart.length > 0) {
    const more = podsToRestartCount > MOST_NAMED ? ` and ${podsToRestartCount - MOST_NAMED} more` : "";
    return `restart the workloads of these pods, which use earlier certificates: ${podsToRestart.slice(0, MOST_NAMED).join(", ")}${more}`;
  }
  return undefined;
}

const FIELD = "spec.mtlsConfig.shared";
const MOST_NAMED = 10;
