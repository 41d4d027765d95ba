import type { Resource } from "@isthmus/core";
import type { Value } from "../shared/defineKind.ts";
import { REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "./pod.ts";
import { projectedMetadata, projectedPodSpec } from "./project.ts";
import type { controllerSpec, controllerStatus, podTemplate } from "./schema.ts";

type PodTemplate = Value<typeof podTemplate>;

/** A Deployment, DaemonSet or StatefulSet: what makes the pods of a workload. */
export interface Controller extends Resource {
  readonly spec?: Value<typeof controllerSpec>;
  readonly status?: Value<typeof controllerStatus>;
}

/**
 * A controller as it leaves its cluster: of its status, which changes with every pod, only whether one of them is ready; no commands, environments
 * or volumes.
 */
export function projectedController<C extends Controller>(controller: C): Controller {
  const { apiVersion, kind, spec } = controller;
  const { resourceVersion: _, ...metadata } = projectedMetadata(controller.metadata);
  const status = isNoneReady(controller) ? { status: {} } : {};
  if (spec === undefined) return { apiVersion, kind, metadata, ...status };
  const { selector, replicas, template } = spec;
  return {
    apiVersion,
    kind,
    metadata,
    spec: {
      ...(selector === undefined ? {} : { selector }),
      ...(replicas === undefined ? {} : { replicas }),
      ...(template === undefined ? {} : { template: projectedTemplate(template) }),
    },
    ...status,
  };
}

/** The template of pods as it leaves its cluster. */
export function projectedTemplate({ metadata, spec }: PodTemplate): PodTemplate {
  return { ...projectedTemplateMetadata(metadata ?? {}), ...(spec === undefined ? {} : { spec: projectedPodSpec(spec) }) };
}

/** Whether the status of a controller counts no ready pod. Kubernetes leaves 0 out. False where there is no status. */
export function isNoneReady({ status }: Controller): boolean {
  return status !== undefined && (status.readyReplicas ?? 0) === 0 && (status.numberReady ?? 0) === 0;
}

/** Says of pods, as label or as annotation, whether they get a sidecar. Source: istio.io/docs/setup/additional-setup/sidecar-injection. */
export const SIDECAR_INJECT = "sidecar.istio.io/inject";

/** Names of the injector's templates that pods are made with; `gateway` is one of Istio's own. Source: as above, Custom templates. */
export const INJECTION_TEMPLATES = "inject.istio.io/templates";

interface TemplateMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

// The last two where a sidecar was injected into the template itself, as by `istioctl kube-inject`.
const KEPT_ANNOTATIONS = [SIDECAR_INJECT, INJECTION_TEMPLATES, REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION];

function projectedTemplateMetadata({ labels, annotations = {} }: TemplateMetadata): { readonly metadata?: TemplateMetadata } {
  const kept = KEPT_ANNOTATIONS.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]] as const]));
  if (labels === undefined && kept.length === 0) return {};
  return {
    metadata: {
      ...(labels === undefined ? {} : { labels }),
      ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
    },
  };
}
