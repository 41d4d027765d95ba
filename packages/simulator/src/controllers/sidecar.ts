import { REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "@isthmus/api";
import type { Resource, Snapshot } from "@isthmus/core";
import { type Container, type PodTemplate, SimulatedDeployment, SimulatedNamespace, type StringMap } from "./workloads.ts";

/** Says in a namespace's labels that its pods get a sidecar. Source: istio.io/latest/docs/setup/additional-setup/sidecar-injection. */
const INJECTION_LABEL = "istio-injection";
/** The control plane that a namespace's or a pod's sidecars belong to. */
const REVISION_LABEL = "istio.io/rev";
/** A pod's own word, as label or as annotation. */
const INJECT = "sidecar.istio.io/inject";
const DEFAULT_REVISION = "default";
/** An image that the injector is asked to choose, as gateways' Deployments have it. */
const AUTO_IMAGE = "auto";

/** The pods of a template as Istio's injector leaves them: with a sidecar where the namespace asks for it and the pod does not refuse. */
export function withSidecar(template: PodTemplate, owner: Resource, snapshot: Snapshot): PodTemplate {
  const revision = revisionFor(template, owner, snapshot);
  const image = revision === undefined ? undefined : proxyImage(revision, snapshot);
  if (revision === undefined || image === undefined) return template;
  const { labels = {}, annotations = {} } = template.metadata ?? {};
  const own = template.spec.containers.map((container) => (container.image === AUTO_IMAGE ? { ...container, image } : container));
  const hasProxy = own.some(({ name }) => name === "istio-proxy");
  const status = { initContainers: hasProxy ? null : ["istio-init"], containers: hasProxy ? null : ["istio-proxy"], revision };
  return {
    ...template,
    metadata: {
      labels: { ...labels, ...meshLabels(labels, owner) },
      annotations: { ...annotations, [REVISION_ANNOTATION]: revision, [SIDECAR_STATUS_ANNOTATION]: JSON.stringify(status) },
    },
    spec: {
      ...template.spec,
      ...(hasProxy ? {} : { initContainers: [...(template.spec.initContainers ?? []), { name: "istio-init", image }] }),
      containers: hasProxy ? own : [...own, sidecar(image)],
    },
  };
}

function sidecar(image: string): Container {
  return { name: "istio-proxy", image, ports: [{ name: "http-envoy-prom", containerPort: 15090, protocol: "TCP" }] };
}

/** The labels by which Istio's telemetry names a workload, and by which its peers know that it speaks mTLS. */
function meshLabels(labels: StringMap, owner: Resource): StringMap {
  const name = labels["service.istio.io/canonical-name"] ?? labels["app.kubernetes.io/name"] ?? labels["app"] ?? workloadName(owner);
  const revision = labels["service.istio.io/canonical-revision"] ?? labels["app.kubernetes.io/version"] ?? labels["version"] ?? "latest";
  return {
    "security.istio.io/tlsMode": "istio",
    "service.istio.io/canonical-name": name,
    "service.istio.io/canonical-revision": revision,
  };
}

/** A ReplicaSet is named after its Deployment. */
function workloadName({ metadata }: Resource): string {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.name ?? metadata.name;
}

/** The control plane whose sidecar a pod gets; undefined: none. */
function revisionFor(template: PodTemplate, { metadata }: Resource, snapshot: Snapshot): string | undefined {
  const { labels = {}, annotations = {} } = template.metadata ?? {};
  if (template.spec.hostNetwork === true) return undefined;
  const wish = labels[INJECT] ?? annotations[INJECT];
  const { namespace = "", clusterName = "" } = metadata;
  const around = snapshot.of(SimulatedNamespace).get({ name: namespace, namespace: "", clusterName })?.metadata.labels ?? {};
  if (wish === "false" || around[INJECTION_LABEL] === "disabled") return undefined;
  if (around[INJECTION_LABEL] === "enabled") return DEFAULT_REVISION;
  if (around[REVISION_LABEL] !== undefined) return around[REVISION_LABEL];
  return labels[REVISION_LABEL] ?? (wish === "true" ? DEFAULT_REVISION : undefined);
}

/** The proxy that comes with the control plane of a revision; without one nothing is injected. */
function proxyImage(revision: string, snapshot: Snapshot): string | undefined {
  for (const { metadata, spec } of snapshot.of(SimulatedDeployment)) {
    if (!metadata.name.startsWith("istiod")) continue;
    const own = metadata.labels?.[REVISION_LABEL] ?? DEFAULT_REVISION;
    const image = spec.template.spec.containers.find(({ image }) => image.includes("/pilot"))?.image;
    if (own === revision && image !== undefined) return image.replace("/pilot", "/proxyv2");
  }
  return undefined;
}
