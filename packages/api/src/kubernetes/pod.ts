import type { Metadata } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { projectedMetadata, projectedPodSpec } from "./project.ts";
import { fields, podSpec } from "./schema.ts";

const podStatus = fields({
  phase: Type.String(),
  podIP: Type.String(),
  conditions: Type.Array(fields({ type: Type.String(), status: Type.String() })),
});

type PodStatus = Value<typeof podStatus>;

/** Written by Istio's injector: the revision of the control plane whose sidecar a pod has. Source: istio.io/docs/reference/config/annotations. */
export const REVISION_ANNOTATION = "istio.io/rev";
/** Written by Istio's injector: what it injected, as JSON, `revision` included. */
export const SIDECAR_STATUS_ANNOTATION = "sidecar.istio.io/status";

/** A Kubernetes Pod. Of a million pods only what translation reads leaves their clusters. */
export const Pod = defineKind({ apiVersion: "v1", kind: "Pod", plural: "pods", fields: { spec: podSpec, status: podStatus } }, (pod) => {
  const { apiVersion, kind, spec, status } = pod;
  return {
    apiVersion,
    kind,
    metadata: podMetadata(pod.metadata),
    ...(spec === undefined ? {} : { spec: projectedPodSpec(spec) }),
    ...(status === undefined ? {} : { status: projectedStatus(status) }),
  };
});
export type Pod = ReturnType<typeof Pod.parse>;

function podMetadata(metadata: Metadata): Metadata {
  const {
    ownerReferences,
    generation: _,
    creationTimestamp: __,
    resourceVersion: ___,
    uid: ____,
    ...rest
  } = projectedMetadata(metadata, isRevision);
  const controllers = ownerReferences?.filter(({ controller }) => controller === true) ?? [];
  return controllers.length === 0 ? rest : { ...rest, ownerReferences: controllers };
}

function isRevision(annotation: string): boolean {
  return annotation === REVISION_ANNOTATION || annotation === SIDECAR_STATUS_ANNOTATION;
}

function projectedStatus({ phase, podIP, conditions = [] }: PodStatus): PodStatus {
  const ready = conditions.find(({ type }) => type === "Ready")?.status;
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(podIP === undefined ? {} : { podIP }),
    ...(ready === undefined ? {} : { conditions: [{ type: "Ready", status: ready }] }),
  };
}
