import { KubernetesCluster, Settings, settingsInForce } from "@isthmus/api";
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
  const settings = written === undefined ? defaultSettings(namespace) : settingsInForce(written);
  const clusterDomains = clusterDomainsIn(snapshot.of(KubernetesCluster))(namespace);
  if (
    previous !== undefined &&
    equalJson(previous.settings?.spec, settings.spec) &&
    isSameMap(previous.clusterDomains, clusterDomains) &&
    previous.namespace === namespace &&
    previous.disallowIntersectingConfig === disallowIntersectingConfig &&
    previous.ages === ages
  ) {
    return previous;
  }
  return { namespace, settings, clusterDomains, ages, disallowIntersectingConfig };
}

/** By the plane's namespace: only clusters registered there count. */
const clusterDomainsIn = memoizeRow((clusters: Collection<KubernetesCluster>) => {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return (namespace: string): ReadonlyMap<string, string> => {
    const domains = known.get(namespace) ?? domainsOf(clusters, namespace);
    known.set(namespace, domains);
    return domains;
  };
});

function domainsOf(clusters: Collection<KubernetesCluster>, namespace: string): ReadonlyMap<string, string> {
  const domains = new Map<string, string>();
  for (const { metadata, spec } of clusters) {
    const { clusterName = "" } = metadata;
    // What a workload cluster says of clusters is no registration.
    if (clusterName === "" && metadata.namespace === namespace && spec?.clusterDomain) domains.set(metadata.name, spec.clusterDomain);
  }
  return domains;
}

function isSameMap(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean {
  return left === right || equalJson([...left], [...right]);
}

/** Those that the chart installs: their loss must not turn mutual TLS off everywhere. */
function defaultSettings(namespace: string): Settings {
  return {
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace },
    spec: { mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } },
  };
}
