import type { Destination, Subset, TrafficPolicyRules } from "@isthmus/api";
import { compareKeys, equalJson, keyOf, sanitizedName } from "@isthmus/core";
import { serviceOf } from "./routes/targets.ts";

type TrafficShift = NonNullable<TrafficPolicyRules["trafficShift"]>;

/** The name of the subset with these labels: `app-reviews-version-v1`; "" without labels. */
export function subsetNameOf(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}-${value}`);
  return sanitizedName(pairs.sort(compareKeys).join("-"));
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

/** The label sets that a traffic shift asks for of one Service. */
export function subsetLabels(shift: TrafficShift | undefined, serviceKey: string): readonly Readonly<Record<string, string>>[] {
  return (shift?.destinations ?? []).flatMap(({ kubeService }) => {
    const subset = kubeService?.subset;
    if (kubeService === undefined || subset === undefined || Object.keys(subset).length === 0) return [];
    return keyOf(serviceOf(kubeService)) === serviceKey ? [subset] : [];
  });
}
