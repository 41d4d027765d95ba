import { KubernetesCluster, Settings, settingsInForce, writeModeOf } from "@isthmus/api";
import { type Collection, equalJson, type Snapshot } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import type { TranslationContext } from "../meshes/inputs.ts";
import type { AgeSource } from "../policy/precedence.ts";

export interface TranslationContextOptions {
  readonly namespace: string;
  readonly disallowIntersectingConfig: boolean;
  readonly ages: AgeSource;
}

/** What every target may read; the same value as before when nothing in it changed. */
export function translationContextOf(
  snapshot: Snapshot,
  options: TranslationContextOptions,
  previous?: TranslationContext,
): TranslationContext {
  const { namespace, disallowIntersectingConfig, ages } = options;
  const written = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" });
  const settings = written && settingsInForce(written);
  const { clusterDomains, observedClusters } = registeredIn(snapshot.of(KubernetesCluster))(namespace);
  if (
    previous !== undefined &&
    equalJson(previous.settings?.spec, settings?.spec) &&
    isSame(previous.clusterDomains, clusterDomains) &&
    isSame(previous.observedClusters, observedClusters) &&
    previous.namespace === namespace &&
    previous.disallowIntersectingConfig === disallowIntersectingConfig &&
    previous.ages === ages
  ) {
    return previous;
  }
  return { namespace, settings, clusterDomains, observedClusters, ages, disallowIntersectingConfig };
}

/** By the plane's namespace: only clusters registered there count. */
const registeredIn = memoizeRow((clusters: Collection<KubernetesCluster>) => {
  const known = new Map<string, RegisteredClusters>();
  return (namespace: string): RegisteredClusters => {
    const registered = known.get(namespace) ?? registeredClusters(clusters, namespace);
    known.set(namespace, registered);
    return registered;
  };
});

type RegisteredClusters = Pick<TranslationContext, "clusterDomains" | "observedClusters">;

function registeredClusters(clusters: Collection<KubernetesCluster>, namespace: string): RegisteredClusters {
  const clusterDomains = new Map<string, string>();
  const observedClusters = new Set<string>();
  for (const cluster of clusters) {
    const { metadata, spec } = cluster;
    const { clusterName = "" } = metadata;
    // What a workload cluster says of clusters is no registration.
    if (clusterName !== "" || metadata.namespace !== namespace) continue;
    if (spec?.clusterDomain) clusterDomains.set(metadata.name, spec.clusterDomain);
    // What others have of a frozen cluster stays, as all of its own does.
    if (writeModeOf(cluster) === "observe") observedClusters.add(metadata.name);
  }
  return { clusterDomains, observedClusters };
}

function isSame<T>(left: Iterable<T>, right: Iterable<T>): boolean {
  return left === right || equalJson([...left], [...right]);
}
