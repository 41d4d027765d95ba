import type { Pod, Service } from "@isthmus/api";
import { type Report, refOf } from "@isthmus/core";
import { isDnsName } from "../policy/hosts/givenHosts.ts";
import { isDnsLabel } from "../policy/limits.ts";
import { isOtherController, managingOwnerOf, WATCHED_CONTROLLERS } from "./controllerKinds.ts";
import { sidecarDetectors } from "./detectors/index.ts";
import { finding } from "./findings.ts";

/** That a Service without any workload selects pods with a sidecar all the same: of Jobs, or of no controller. Undefined where it does not. */
export function podsOfNoWorkload(service: Service, pods: readonly Pod[]): Report | undefined {
  // Why there is no Workload of one that is kept running is said of its controller, or is plain to see.
  if (pods.some(isKeptRunning)) return undefined;
  const found = pods.filter((pod) => sidecarDetectors.some(({ isInjected }) => isInjected(pod)));
  if (found.length === 0) return undefined;
  const named = found.slice(0, MOST_NAMES).map(nameWithController).sort();
  const rest = found.length > named.length ? [`${found.length - named.length} more`] : [];
  const message = `spec.selector: selects pods with a sidecar, and none that a Deployment, StatefulSet, DaemonSet or the like keeps running, so no Destination is discovered: ${[...named, ...rest].join(", ")}`;
  return finding(refOf(service), "WARNING", "PodsOfNoWorkload", message);
}

function isKeptRunning(pod: Pod): boolean {
  const kind = managingOwnerOf(pod)?.kind;
  return kind !== undefined && (WATCHED_CONTROLLERS.has(kind) || isOtherController(kind));
}

function nameWithController(pod: Pod): string {
  const owner = managingOwnerOf(pod);
  if (owner === undefined) return `${pod.metadata.name} (of no controller)`;
  // Nobody checks what an owner reference says.
  const isName = isDnsLabel(owner.kind.toLowerCase()) && isDnsName(owner.name);
  return `${pod.metadata.name} (of ${isName ? `${owner.kind} ${owner.name}` : "a controller that has no name of Kubernetes"})`;
}

// They are for people: with one of them they find the others.
const MOST_NAMES = 3;
