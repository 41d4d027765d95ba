import type { VirtualDestination } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import { virtualDestinationFindings } from "../../../policy/virtualDestinations/virtualDestinationFindings.ts";

/** What to know of a VirtualDestination that a policy sends traffic to. */
export function virtualHostFindings(path: string, virtualDestination: VirtualDestination): readonly Finding[] {
  const { metadata, spec = {} } = virtualDestination;
  const name = formatRef(refOf(virtualDestination));
  if (!spec.hostname) return [invalidFinding("TrafficShiftTargetUnknown", `${path}: ${name} has no spec.hostname: set it`)];
  const isOfManagement = (metadata.clusterName ?? "") === "";
  const isRight = isOfManagement && virtualDestinationFindings(spec).every(({ state }) => state !== "INVALID");
  if (isRight) return [];
  const why = isOfManagement ? "is INVALID" : "is in a workload cluster, so it is not translated";
  const remedy = isOfManagement
    ? "correct it, as its status says"
    : "define the host with a ServiceEntry of Istio in each cluster that calls it";
  return [
    warningFinding(
      "VirtualDestinationNotWritten",
      `${path}: ${name} ${why}, so traffic to its host ${spec.hostname} fails unless something else defines the host: ${remedy}, or use kubeService`,
    ),
  ];
}
