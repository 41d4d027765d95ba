import type { AccessPolicy } from "@isthmus/api";

/** The clusters of which an AccessPolicy names callers, some perhaps twice; "" stands for every cluster. */
export function clustersOfCallers({ spec }: AccessPolicy): readonly string[] {
  return (spec?.sourceSelector ?? []).flatMap(({ kubeIdentityMatcher, kubeServiceAccountRefs }) => [
    ...(kubeIdentityMatcher?.clusters ?? []),
    ...(kubeServiceAccountRefs?.serviceAccounts ?? []).map(({ clusterName = "" }) => clusterName),
  ]);
}
