import type { Destination, Subset, TrafficPolicyRules } from "@isthmus/api";
import { compareKeys, equalJson, keyOf, md5Hex, sanitizedName } from "@isthmus/core";
import { serviceOf } from "../../policy/hosts/serviceRefs.ts";
import { isDnsLabel } from "../../policy/limits.ts";

type TrafficShift = NonNullable<TrafficPolicyRules["trafficShift"]>;

/** The name of the subset with these labels: `app-reviews-version-v1`; "" without labels. */
export function subsetNameOf(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}-${value}`);
  const joined = pairs.sort(compareKeys).join("-");
  const name = sanitizedName(joined);
  if (name === "" || isDnsLabel(name)) return name;
  // The published product's name, which Istio refuses: without what it can't hold, and with something to tell it from others.
  const kept = name
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 54);
  return `${kept}-${md5Hex(joined).slice(0, 8)}`;
}

/** The subsets of one Service that traffic shifts ask for, each once, in the order they are first named. */
export function subsetsOf(destination: Destination): readonly Subset[] {
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined) return [];
  const found: Subset[] = [];
  for (const { trafficShift } of destination.status?.requiredSubsets ?? []) {
    for (const labels of subsetLabels(trafficShift as TrafficShift, keyOf(service))) {
      if (!found.some((subset) => equalJson(subset.labels, labels))) found.push({ name: subsetNameOf(labels), labels });
    }
  }
  return found;
}

/** Whether a policy shifts traffic to subsets of a Service. */
export function asksForSubsetsOf(rules: TrafficPolicyRules, serviceKey: string): boolean {
  return subsetLabels(rules.trafficShift, serviceKey).length > 0;
}

/** The label sets that a traffic shift asks for of one Service. */
function subsetLabels(shift: TrafficShift | undefined, serviceKey: string): readonly Readonly<Record<string, string>>[] {
  return (shift?.destinations ?? []).flatMap(({ kubeService }) => {
    const subset = kubeService?.subset;
    if (kubeService === undefined || subset === undefined || Object.keys(subset).length === 0) return [];
    return keyOf(serviceOf(kubeService)) === serviceKey ? [subset] : [];
  });
}
