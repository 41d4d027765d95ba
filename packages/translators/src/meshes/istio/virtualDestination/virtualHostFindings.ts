import type { VirtualDestination } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import { virtualDestinationFindings } from "../../../policy/virtualDestinationFindings.ts";

/** What to know of a VirtualDestination that a policy sends traffic to. */
export function virtualHostFindings(
  path: string,
  virtualDestination: VirtualDestination,
  subset: Readonly<Record<string, string>> = {},
): readonly Finding[] {
  const { metadata, spec = {} } = virtualDestination;
  const name = formatRef(refOf(virtualDestination));
  if (!spec.hostname) return [invalidFinding("TrafficShiftTargetUnknown", `${path}: ${name} has no spec.hostname: set it`)];
  const isOfManagement = (metadata.clusterName ?? "") === "";
  const isRight = isOfManagement && virtualDestinationFindings(spec).every(({ state }) => state !== "INVALID");
  if (!isRight) {
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
  if (Object.keys(subset).length === 0) return [];
  const message = `${path}.subset: pods of a VirtualDestination cannot be chosen by labels, as those of other clusters are behind their gateways: remove it, or use kubeService`;
  return [invalidFinding("TrafficShiftTargetUnsupported", message)];
}
