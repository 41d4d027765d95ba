import type { Metadata } from "@isthmus/core";
import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata, projectedPodSpec } from "./project.ts";
import { podSpec } from "./schema.ts";

/** Written by Istio's injector: the revision of the control plane whose sidecar a pod has. Source: istio.io/docs/reference/config/annotations. */
export const REVISION_ANNOTATION = "istio.io/rev";
/** Written by Istio's injector: what it injected, as JSON, `revision` included. */
export const SIDECAR_STATUS_ANNOTATION = "sidecar.istio.io/status";

/** Whether a pod asks to be scraped, where it is "true". A convention of Prometheus; Istio's injector follows it with its own port. */
export const SCRAPE_ANNOTATION = "prometheus.io/scrape";
/** The port at which it is to be scraped. */
export const SCRAPE_PORT_ANNOTATION = "prometheus.io/port";

/**
 * A Kubernetes Pod. Of a million pods only what translation reads leaves their clusters: not their status, as addresses and readiness
 * are read of EndpointSlices (or Endpoints). A pod that becomes ready or ceases to be is no change of it.
 */
export const Pod = defineKind({ apiVersion: "v1", kind: "Pod", plural: "pods", fields: { spec: podSpec } }, (pod) => {
  const { apiVersion, kind, spec } = pod;
  const identity = { apiVersion, kind, metadata: podMetadata(pod.metadata) };
  return spec === undefined ? identity : { ...identity, spec: projectedPodSpec(spec) };
});
export type Pod = ReturnType<typeof Pod.parse>;

function podMetadata(metadata: Metadata): Metadata {
  const isScraped = metadata.annotations?.[SCRAPE_ANNOTATION] === "true";
  const {
    ownerReferences,
    generation: _,
    creationTimestamp: __,
    resourceVersion: ___,
    uid: ____,
    ...rest
  } = projectedMetadata(metadata, (key) => isRevision(key) || (isScraped && isAboutScraping(key)));
  const controllers = ownerReferences?.filter(({ controller }) => controller === true) ?? [];
  return controllers.length === 0 ? rest : { ...rest, ownerReferences: controllers };
}

function isRevision(annotation: string): boolean {
  return annotation === REVISION_ANNOTATION || annotation === SIDECAR_STATUS_ANNOTATION;
}

function isAboutScraping(annotation: string): boolean {
  return annotation === SCRAPE_ANNOTATION || annotation === SCRAPE_PORT_ANNOTATION;
}
