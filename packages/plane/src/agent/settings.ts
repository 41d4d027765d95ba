import { Settings, settingsInForce } from "@isthmus/api";
import { inCluster, type Resource, type ResourceRef, type Snapshot } from "@isthmus/core";
import { discoveryScope, type KnownPlane, lastKnownMeshesOf, type Scope } from "@isthmus/translators";
import { DELETE_LIMITS, type DeleteLimits } from "../apply/deleteBudget.ts";

/** Only numbers of endpoints, the endpoints themselves, too, or nothing, without watching them. */
export type CiliumEndpointsMode = "SUMMARY" | "FULL" | "NONE";

/** What of the plane's settings concerns an agent. */
export interface AgentSettings {
  readonly deleteLimits: DeleteLimits;
  /** What is reported of Cilium's endpoints; undefined before a server has said so. */
  readonly ciliumEndpoints: CiliumEndpointsMode | undefined;
  /** Whether proxies and control planes are scraped. */
  readonly meshMetrics: boolean;
  /** Whether documents of APIs are read: not before a server has said so, which may be that it is off. */
  readonly apiDiscovery: boolean;
  /** The namespaces of a cluster that are reported of: by the selectors of its meshes, and by those of the settings. */
  scopeIn(cluster: Snapshot, clusterName: string): Scope;
}

/** What holds as long as no server has said anything. */
export const DEFAULT_SETTINGS: AgentSettings = {
  deleteLimits: DELETE_LIMITS,
  ciliumEndpoints: undefined,
  meshMetrics: false,
  apiDiscovery: false,
  scopeIn: (cluster, clusterName) => discoveryScope(cluster, clusterName, ""),
};

// The one object that holds the plane's settings.
const NAME = "settings";

/** Settings as they travel to an agent. */
interface ToldSettings extends Resource, Pick<Settings, "spec"> {
  /** The control planes of its cluster that are known, there or not: absent without any. */
  readonly knownPlanes?: readonly KnownPlane[];
}

/** What a server tells the agent of a cluster of the Settings that it knows, and of the meshes that it knows there. */
export function agentSettingsFor(
  settings: Settings | undefined,
  { namespace, clusterName }: Pick<ResourceRef, "namespace" | "clusterName">,
  knownPlanes: readonly KnownPlane[],
): ToldSettings {
  const { discovery, relay, agentServices } = (settings && settingsInForce(settings).spec) ?? {};
  const { selectors, cilium } = discovery ?? {};
  const told = { ...(selectors === undefined ? {} : { selectors }), ...(cilium === undefined ? {} : { cilium }) };
  const { metrics, apiDiscovery } = agentServices ?? {};
  const services = { ...(metrics === undefined ? {} : { metrics }), ...(apiDiscovery === undefined ? {} : { apiDiscovery }) };
  return {
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: NAME, namespace, clusterName },
    spec: {
      ...(Object.keys(told).length === 0 ? {} : { discovery: told }),
      ...(Object.keys(services).length === 0 ? {} : { agentServices: services }),
      ...(relay?.deleteBudget === undefined ? {} : { relay: { deleteBudget: relay.deleteBudget } }),
    },
    ...(knownPlanes.length === 0 ? {} : { knownPlanes }),
  };
}

/** The settings in what a server sent; undefined when it is about something else. Throws InvalidResource. */
export function receivedSettings(resource: Resource): AgentSettings | undefined {
  if (resource.kind !== Settings.kind || !Settings.versions.includes(resource.apiVersion)) return undefined;
  const settings = inCluster(Settings.parse(resource), "");
  const { percent = DELETE_LIMITS.percent, objects = DELETE_LIMITS.objects } = settings.spec?.relay?.deleteBudget ?? {};
  return {
    deleteLimits: { percent, objects },
    ciliumEndpoints: settings.spec?.discovery?.cilium?.endpoints ?? "SUMMARY",
    meshMetrics: settings.spec?.agentServices?.metrics === "ENABLED",
    apiDiscovery: settings.spec?.agentServices?.apiDiscovery !== "DISABLED",
    scopeIn(cluster, clusterName) {
      const put = [settings, ...lastKnownMeshesOf((resource as ToldSettings).knownPlanes, clusterName)];
      return discoveryScope(cluster.apply({ put, remove: [] }), clusterName, settings.metadata.namespace ?? "");
    },
  };
}
