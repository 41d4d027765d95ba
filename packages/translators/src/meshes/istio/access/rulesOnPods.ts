import { AuthorizationPolicy, PeerAuthentication, rootNamespaceOf } from "@isthmus/api";
import { kindKeyOf, matchesLabels, type Resource } from "@isthmus/core";
import type { DestinationInputs } from "../../inputs.ts";
import { trustDomainOf } from "./trustDomainOf.ts";

/** Labels of pods. */
export type PodLabels = Readonly<Record<string, string>>;

/** The inputs on which it depends which pods are behind a Service. */
export type PodsInputs = Pick<DestinationInputs, "destination" | "mesh" | "workloads">;

/** Labels of the pods behind a Service that have a proxy; where no pods are known, those that it selects. */
export function podsWithProxy({ destination, workloads }: PodsInputs): readonly PodLabels[] {
  const { outsideMesh = [], workloadSelectorLabels = {} } = destination.spec?.kubeService ?? {};
  if (workloads.length === 0 && outsideMesh.length === 0) return [workloadSelectorLabels];
  return workloads.map(({ spec }) => spec?.kubernetes?.podLabels ?? {});
}

/** Whether pods of a Service without a sidecar are in ambient mode, by their namespace: their node's proxy checks who calls them. */
export function isAmbient({ destination, mesh }: Pick<PodsInputs, "destination" | "mesh">): boolean {
  return mesh.spec?.istio?.ambientNamespaces?.includes(destination.spec?.kubeService?.ref?.namespace ?? "") === true;
}

/** Whether an object is about pods. Those in the root namespace are about every namespace. Those for gateways are about none of these pods. */
export function isAboutPods({ metadata, spec }: AuthorizationPolicy, labels: PodLabels, { destination, mesh }: PodsInputs): boolean {
  const { targetRef, targetRefs } = (spec ?? {}) as { readonly targetRef?: unknown; readonly targetRefs?: unknown };
  if (targetRef !== undefined || targetRefs !== undefined) return false;
  const place = metadata.namespace ?? "";
  const isThere = place === destination.spec?.kubeService?.ref?.namespace || place === rootNamespaceOf(mesh);
  return isThere && matchesLabels(spec?.selector?.matchLabels ?? {}, labels);
}

/** The trust domains that stand for one another in rules: the mesh's own, and its aliases. */
export function ownTrustDomains({ mesh }: Pick<PodsInputs, "mesh">): readonly string[] {
  const { trustDomain, aliases = [] } = trustDomainOf(mesh) ?? {};
  return trustDomain === undefined ? [] : [trustDomain, ...aliases];
}

// Source: istio.io/docs/tasks/security/authorization/authz-dry-run; Go, strconv.ParseBool.
const DRY_RUN = "istio.io/dry-run";
const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Whether proxies only count what an object would do. Of what leaves the decision to another program, versions of Istio make different things. */
export function isDryRun({ metadata, spec }: AuthorizationPolicy): boolean {
  return spec?.action !== "CUSTOM" && TRUE.has(metadata.annotations?.[DRY_RUN] ?? "");
}

/** Whether it is an AuthorizationPolicy. */
export function isAuthorizationPolicy(object: Resource): object is AuthorizationPolicy {
  return kindKeyOf(object) === kindKeyOf(AuthorizationPolicy);
}

/** Whether it is a PeerAuthentication. */
export function isPeerAuthentication(object: Resource): object is PeerAuthentication {
  return kindKeyOf(object) === kindKeyOf(PeerAuthentication);
}
