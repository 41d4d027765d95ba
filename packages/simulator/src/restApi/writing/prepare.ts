import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { Content } from "../../object.ts";

interface Identity {
  readonly uid: string;
  readonly name: string;
}

/** What API servers do to an object of some kinds before it is completed. Source: the strategies below pkg/registry of Kubernetes. */
export function prepared(kindKey: string, content: Content, before: Content | undefined, { uid, name }: Identity): Content {
  switch (kindKey) {
    case "/Namespace": {
      const labels = { ...content.metadata?.labels, "kubernetes.io/metadata.name": name };
      const kept = before === undefined ? content : { ...content, spec: before["spec"] ?? content["spec"] };
      return { ...kept, metadata: { ...content.metadata, labels } };
    }
    case "batch/Job":
      return before === undefined ? job(content, { uid, name }) : content;
    case "/Service":
      return before === undefined ? content : service(content, before);
    case "apps/DaemonSet":
      return before === undefined ? annotated(content, "deprecated.daemonset.template.generation", "1") : content;
    case "/PersistentVolumeClaim":
      return before === undefined ? protectedClaim(content) : content;
    case "autoscaling/HorizontalPodAutoscaler":
      return autoscaler(content);
    case "/Node":
      return before === undefined ? node(content) : content;
    default:
      return content;
  }
}

/** A Job's pods bear its name and UID, by which it selects them. */
function job(content: Content, { uid, name }: Identity): Content {
  const spec = membersAt(content, "spec");
  if (spec["manualSelector"] === true) return content;
  const template = membersAt(spec, "template");
  const metadata = membersAt(template, "metadata");
  const labels = {
    ...(isMembers(metadata["labels"]) ? metadata["labels"] : {}),
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  const selector = { matchLabels: { "batch.kubernetes.io/controller-uid": uid } };
  const own = content.metadata?.labels ?? labels;
  return {
    ...content,
    metadata: { ...content.metadata, labels: own as Readonly<Record<string, string>> },
    spec: { ...spec, selector, template: { ...template, metadata: { ...metadata, labels } } },
  };
}

/** Addresses that an update leaves out stay. */
function service(content: Content, before: Content): Content {
  const spec = membersAt(content, "spec");
  const old = membersAt(before, "spec");
  const kept: Record<string, unknown> = {};
  if (spec["type"] !== "ExternalName" && old["type"] !== "ExternalName") {
    for (const field of ["clusterIP", "clusterIPs"]) if (isEmpty(spec[field]) && !isEmpty(old[field])) kept[field] = old[field];
  }
  for (const field of ["healthCheckNodePort"])
    if (isEmpty(spec[field]) && spec["type"] === "LoadBalancer" && !isEmpty(old[field])) kept[field] = old[field];
  return Object.keys(kept).length === 0 ? content : { ...content, spec: { ...spec, ...kept } as Members };
}

function annotated(content: Content, name: string, value: string): Content {
  return { ...content, metadata: { ...content.metadata, annotations: { ...content.metadata?.annotations, [name]: value } } };
}

/** Nothing runs on a node that has not said that it is ready. */
function node(content: Content): Content {
  const spec = membersAt(content, "spec");
  const taints: readonly unknown[] = Array.isArray(spec["taints"]) ? spec["taints"] : [];
  return { ...content, spec: { ...spec, taints: [...taints, { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] } };
}

/** Held until nothing uses it. */
function protectedClaim(content: Content): Content {
  return {
    ...content,
    metadata: { ...content.metadata, finalizers: [...(content.metadata?.finalizers ?? []), "kubernetes.io/pvc-protection"] },
  };
}

/** What the first version says of one metric is one of several in the second. */
function autoscaler(content: Content): Content {
  const { targetCPUUtilizationPercentage: averageUtilization, ...spec } = membersAt(content, "spec");
  if (averageUtilization === undefined) return content;
  return {
    ...content,
    spec: { ...spec, metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }] },
  };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}
