import type { VirtualMesh } from "@isthmus/api";
import { type Finding, warningFinding } from "../../../findings.ts";
import { failoverFindings } from "../failover/failoverFindings.ts";
import { keepaliveFindings } from "./keepalive.ts";

/** What of a VirtualMesh is left out or not carried out in Istio meshes, whichever they are. */
export function virtualMeshFindings(virtualMesh: VirtualMesh): readonly Finding[] {
  return [...flatNetworkFindings(virtualMesh), ...keepaliveFindings(virtualMesh), ...failoverFindings(virtualMesh)];
}

function flatNetworkFindings({ spec }: VirtualMesh): readonly Finding[] {
  if (spec?.federation?.flatNetwork !== true) return [];
  const message =
    "spec.federation.flatNetwork: not supported yet, traffic between clusters goes through gateways in any case; the field is only " +
    "repeated in statuses: remove it";
  return [warningFinding("FieldUnsupported", message)];
}
