import type { Destination, Mesh } from "@isthmus/api";
import { compareKeys, exactly } from "@isthmus/core";

/**
 * The SPIFFE IDs of the pods behind a Destination, in order: those that istiod expects of them in their own cluster, also under the aliases of its trust
 * domain. Undefined where one of them is not known. Source: istio.io/istio, pkg/spiffe, ExpandWithTrustDomains.
 */
export function identitiesOf({ spec }: Destination, mesh: Mesh): readonly string[] | undefined {
  const { ref, serviceAccounts = [] } = spec?.kubeService ?? {};
  const { trustDomain, trustDomainAliases = [], trustDomainProblem, severalTrustDomains = false } = mesh.spec?.istio ?? {};
  // With a problem its pods may have another one than is in use here.
  if (serviceAccounts.length === 0 || !trustDomain || trustDomainProblem !== undefined || severalTrustDomains) return undefined;
  return spiffeIds([trustDomain, ...trustDomainAliases], ref?.namespace ?? "", serviceAccounts);
}

/** SPIFFE IDs of service accounts, in order. Source: istio.io, Istio identity. */
export function spiffeIds(trustDomains: readonly string[], namespace: string, accounts: readonly string[]): readonly string[] {
  return inOrder(trustDomains.flatMap((domain) => accounts.map((account) => `spiffe://${domain}/ns/${namespace}/sa/${account}`)));
}

/**
 * What callers of a host accept as its endpoints (`subjectAltNames` of a ServiceEntry), of the identities of each Destination behind it. Nothing where those of
 * one are not known: Istio accepts all of the same root then, and a list without them would break calls (docs/decisions/0165).
 */
export function subjectAltNames(identities: readonly (readonly string[] | undefined)[]): { readonly subjectAltNames?: readonly string[] } {
  if (identities.length === 0 || identities.includes(undefined)) return {};
  const names = inOrder(identities.flatMap((ofOne) => ofOne ?? []));
  return names.length > MOST_NAMES ? {} : { subjectAltNames: names };
}

// Each proxy of each caller holds and compares them.
const MOST_NAMES = 1000;

function inOrder(names: readonly string[]): readonly string[] {
  return exactly([...new Set(names)].sort(compareKeys));
}
