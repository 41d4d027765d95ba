import { KubernetesCluster, Mesh, Settings } from "@isthmus/api";
import { equalJson, type Snapshot } from "@isthmus/core";
import type { Surroundings } from "../inputs.ts";

export interface SurroundingsOptions {
  readonly namespace: string;
  readonly disallowIntersectingConfig: boolean;
}

/** What every target may read; the same value as before when nothing in it changed. */
export function surroundingsOf(snapshot: Snapshot, options: SurroundingsOptions, previous?: Surroundings): Surroundings {
  const { namespace, disallowIntersectingConfig } = options;
  const settings = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" }) ?? defaultSettings(namespace);
  const clusterDomains = clusterDomainsOf(snapshot, namespace);
  const trustDomains = [...snapshot.of(Mesh)].flatMap(({ spec }) => {
    const { trustDomain, installation } = spec?.istio ?? {};
    return trustDomain ? [{ clusterName: installation?.cluster ?? "", trustDomain }] : [];
  });
  if (
    previous !== undefined &&
    equalJson(previous.settings?.spec, settings.spec) &&
    equalJson([...previous.clusterDomains], [...clusterDomains]) &&
    equalJson(previous.trustDomains, trustDomains) &&
    previous.namespace === namespace &&
    previous.disallowIntersectingConfig === disallowIntersectingConfig
  ) {
    return previous;
  }
  return { namespace, settings, clusterDomains, trustDomains, disallowIntersectingConfig };
}

/** Only clusters registered in the plane's own namespace count. */
function clusterDomainsOf(snapshot: Snapshot, namespace: string): ReadonlyMap<string, string> {
  const domains = new Map<string, string>();
  for (const { metadata, spec } of snapshot.of(KubernetesCluster)) {
    if (metadata.namespace === namespace && spec?.clusterDomain) domains.set(metadata.name, spec.clusterDomain);
  }
  return domains;
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
