import type { Pod, Workload } from "@isthmus/api";
import { matchesLabels } from "@isthmus/core";
import { controllerNameOf } from "./outsideMesh.ts";

type Labels = Readonly<Record<string, string>>;

/** Labels of the pods behind a Service, as a Destination shows them; undefined of a pod that no workload is known of. */
export type LabelsOfPod = (podName: string) => Labels | undefined;

/**
 * The labels of a pod among those that its workload's template has, with the values of the pod itself: during a rollout the template says what pods will
 * have. Its workload is the one that its controller is, else of those whose template has labels of the pod only the one with the most. Of pods that are
 * not known their names tell, as in the published API: of the workloads whose name and a dash they begin with, the longest.
 */
export function labelsOfPods(pods: readonly Pod[], workloads: readonly Workload[]): LabelsOfPod {
  if (pods.length === 0) return (name) => templateOf(workloadNamedLike(name, workloads));
  const podsByName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  return (name) => {
    const pod = podsByName.get(name);
    if (pod === undefined) return templateOf(workloadNamedLike(name, workloads));
    const template = templateOf(workloadOf(pod, workloads));
    return template === undefined ? undefined : ofPod(template, pod.metadata.labels ?? NO_LABELS);
  };
}

function templateOf(workload: Workload | undefined): Labels | undefined {
  return workload?.spec?.kubernetes?.podLabels;
}

function workloadOf(pod: Pod, workloads: readonly Workload[]): Workload | undefined {
  const kind = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.kind;
  if (kind !== undefined) {
    const name = controllerNameOf(pod);
    // A Workload's name ends in the kind of its controller. ReplicaSets are of Deployments.
    const suffix = `-${kind === "ReplicaSet" ? "deployment" : kind.toLowerCase()}`;
    const own = workloads.find(({ spec, metadata }) => spec?.kubernetes?.controller?.name === name && metadata.name.endsWith(suffix));
    if (own !== undefined) return own;
  }
  const { labels = NO_LABELS } = pod.metadata;
  let found: { readonly workload: Workload; readonly size: number } | undefined;
  for (const workload of workloads) {
    const template = templateOf(workload) ?? NO_LABELS;
    const size = Object.keys(template).length;
    if (size > (found?.size ?? 0) && matchesLabels(template, labels)) found = { workload, size };
  }
  return found?.workload;
}

/** The template's own where the pod has the same, as nearly all have: one for all of them. */
function ofPod(template: Labels, labels: Labels): Labels {
  if (matchesLabels(template, labels)) return template;
  const own = Object.keys(template).flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]] as const]));
  // What the injector noted on the pod itself, as no template with these labels vouches for its sidecar.
  const tlsMode = labels[TLS_MODE_LABEL];
  return Object.fromEntries(tlsMode === undefined ? own : [...own, [TLS_MODE_LABEL, tlsMode]]);
}

// On pods with a sidecar. Source: istio.io/docs/reference/config/labels.
const TLS_MODE_LABEL = "security.istio.io/tlsMode";

/** Services with many pods that are not known ask this of each of them. */
function workloadNamedLike(podName: string, workloads: readonly Workload[]): Workload | undefined {
  if (podName === "") return undefined;
  let [found, longest]: [Workload | undefined, number] = [undefined, 0];
  for (const workload of workloads) {
    const { length } = workload.spec?.kubernetes?.controller?.name ?? "";
    if (length > longest && podName[length] === "-" && podName.startsWith(workload.spec?.kubernetes?.controller?.name ?? "")) {
      [found, longest] = [workload, length];
    }
  }
  return found;
}

const NO_LABELS: Labels = {};
