import { KubernetesCluster } from "@isthmus/api";
import { plainJson, type Skew, skewOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type DeploymentState, DeploymentStates, imageName, serverVersion } from "./deployments.ts";

/** What `meshctl version` prints beside its own version. The form of `server` is that of the published meshctl. */
export interface PlaneVersions {
  readonly server: readonly { readonly Namespace: string; readonly components: readonly Component[] }[];
  readonly agents: readonly { readonly cluster: string; readonly version: string; readonly connected: boolean; readonly skew: Skew }[];
}

interface Component {
  readonly componentName: string;
  readonly images: readonly { readonly name: string; readonly domain: string; readonly path: string; readonly version: string }[];
}

/** Reads the images of the management plane's Deployments, and the version of each agent. Throws ClusterError. */
export async function planeVersions(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<PlaneVersions> {
  const { items: deployments } = await cluster.list(DeploymentStates, { namespace }, signal);
  const { items: clusters } = await cluster.list(KubernetesCluster, { namespace }, signal);
  const server = serverVersion(deployments) ?? "unknown";
  const agents = clusters.map(({ metadata, status }) => {
    const { version = "unknown", connected = false } = status?.agent ?? {};
    return { cluster: metadata.name, version, connected, skew: skewOf(version, server) };
  });
  const versions: PlaneVersions = {
    server: deployments.length === 0 ? [] : [{ Namespace: namespace, components: deployments.map(componentOf) }],
    agents: agents.sort((a, b) => (a.cluster < b.cluster ? -1 : 1)),
  };
  return plainJson(versions) as PlaneVersions;
}

function componentOf({ metadata, spec }: DeploymentState): Component {
  const containers = spec?.template?.spec?.containers ?? [];
  return {
    componentName: metadata.name,
    images: containers.map(({ name = "", image = "" }) => ({ name, ...imageName(image) })),
  };
}
