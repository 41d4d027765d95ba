import { SIDECAR_INJECT } from "@isthmus/api";
import { namespaceLocationOf } from "../../policy/podIndexes.ts";
import { REVISION_LABEL } from "./istioMesh.ts";
import type { PodsToCome } from "./sidecar.ts";

/** Says of a namespace whether its pods get the sidecar of the default revision. Any other value than `enabled` keeps every injector out. */
const INJECTION_LABEL = "istio-injection";
/** The revision of a control plane that was installed without one, and the tag of the one that takes its place. */
export const DEFAULT_REVISION = "default";
/** Istio's injector leaves them alone, whatever their labels are. Source: istio.io/istio, pkg/kube/inject, IgnoredNamespaces. */
export const NEVER_INJECTED: ReadonlySet<string> = new Set(["kube-system", "kube-public", "kube-node-lease", "local-path-storage"]);

/**
 * The revision, or tag of one, whose injector pods to come will pass; undefined for none. As the selectors of the webhooks of Istio's charts say,
 * from the labels of the namespace and of the template. Not known are webhooks that somebody changed, as with `enableNamespacesByDefault`, and the
 * injector's own selectors: of what gets its sidecar from these, only pods tell.
 * Sources: istio.io/docs/setup/additional-setup/sidecar-injection; istio.io/istio, chart istiod, mutatingwebhook.yaml; pkg/kube/inject, injectRequired.
 */
export function revisionToCome({ controller, namespaceLabels = {} }: PodsToCome): string | undefined {
  const { metadata: { labels = {}, annotations = {} } = {}, spec } = controller.spec?.template ?? {};
  if (spec?.hostNetwork === true || NEVER_INJECTED.has(namespaceLocationOf(controller).namespace)) return undefined;
  // The label comes before the annotation, which no webhook sees: by itself it only refuses.
  if ((labels[SIDECAR_INJECT] ?? annotations[SIDECAR_INJECT]) === "false") return undefined;
  const injection = namespaceLabels[INJECTION_LABEL];
  if (injection !== undefined) return injection === "enabled" ? DEFAULT_REVISION : undefined;
  const own = labels[SIDECAR_INJECT] === "true" ? DEFAULT_REVISION : undefined;
  return namespaceLabels[REVISION_LABEL] ?? labels[REVISION_LABEL] ?? own;
}
