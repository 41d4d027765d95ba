import type { Condition, Resource } from "@isthmus/core";

const TYPE = "EndpointsExcluded";

/** Says of a cluster that others call it no more, so that a server that starts, or takes over, continues with it (docs/decisions/0088). */
export function endpointsExcluded(isExcluded: boolean): readonly Condition[] {
  if (!isExcluded) return [];
  const message =
    "other clusters leave its endpoints out where a VirtualDestination has others, as no agent has been connected for longer than " +
    "spec.failover.excludeOffline.after of the Settings: they are back as soon as its agent connects";
  return [{ type: TYPE, status: "True", reason: "AgentAway", message }];
}

/** Whether a server has written that. */
export function wasExcluded(kubernetesCluster: Resource): boolean {
  const { status } = kubernetesCluster as { readonly status?: { readonly conditions?: readonly Partial<Condition>[] } };
  return status?.conditions?.some((condition) => condition.type === TYPE && condition.status === "True") === true;
}

/** By what this server has decided; before it has, what one before it has written stays. */
export function isExcluded(kubernetesCluster: Resource, decided: ReadonlySet<string> | undefined): boolean {
  return decided === undefined ? wasExcluded(kubernetesCluster) : decided.has(kubernetesCluster.metadata.name);
}
