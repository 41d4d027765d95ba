import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane/ports";

/** How a command is told which cluster is the management cluster. */
export interface ManagementTarget {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace: string;
}

/** Gives access to the management cluster. */
export type Connect = (place: ManagementTarget) => Promise<Cluster>;

/** The cluster of a kubeconfig, as its current user. Throws UsageError when there is none. */
export const connectWithKubeconfig: Connect = async ({ kubeconfig: path, context }) => {
  // Loaded when it is needed: most commands need no cluster.
  const { kubernetesCluster, loadKubeconfig } = await import("@isthmus/kubernetes");
  const { systemClock } = await import("@isthmus/plane");
  const kubeconfig = loadKubeconfig({ ...(path === undefined ? {} : { path }), ...(context === undefined ? {} : { context }) });
  return kubernetesCluster({ name: "", kubeconfig, clock: systemClock, random: Math.random });
};

/** Does something in the management cluster. What the API server refuses, or that it does not answer, is told in one line: it throws UsageError. */
export async function inManagementCluster<T>(place: ManagementTarget, connect: Connect, act: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = await connect(place);
  const { ClusterError } = await import("@isthmus/plane/ports");
  try {
    return await act(cluster);
  } catch (error) {
    if (error instanceof ClusterError) throw new UsageError(`management cluster: ${error.message}`);
    throw error;
  }
}
