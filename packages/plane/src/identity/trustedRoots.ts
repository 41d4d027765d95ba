import { KubernetesCluster } from "@isthmus/api";
import type { Informer } from "../informer/informer.ts";

/**
 * Whether every agent that was ever heard of trusts exactly these roots, as the KubernetesClusters say. What is not known is
 * no yes.
 */
export function areRootsTrustedByAll({ isComplete, snapshot }: Informer, digest: string): boolean {
  if (!isComplete) return false;
  return [...snapshot.of(KubernetesCluster)].every(({ status }) => status?.agent === undefined || status.agent.trustedRoots === digest);
}
