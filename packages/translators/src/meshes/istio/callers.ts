import type { AuthorizationSource, IdentitySelector, Mesh } from "@isthmus/api";
import { intern } from "@isthmus/core";
import { type Finding, invalidFinding } from "../../findings.ts";
import { isTrustDomain, type TrustDomain } from "../../policy/trustDomain.ts";

/** Undefined for a mesh that names none, or what is no trust domain: a principal with a star could be anybody. */
export function trustDomainOf({ spec }: Mesh): TrustDomain | undefined {
  const { trustDomain = "", installation } = spec?.istio ?? {};
  return !isTrustDomain(trustDomain) ? undefined : { clusterName: installation?.cluster ?? "", trustDomain };
}

/** The callers that one entry of an AccessPolicy's sourceSelector stands for. */
export interface Callers {
  /** Undefined without findings: every caller, also one without an identity. With findings: those callers that are known, none for undefined. */
  readonly source: AuthorizationSource | undefined;
  /** Why the entry, or some of its callers, cannot be said in Istio's words. */
  readonly findings: readonly Finding[];
}

/** One entry of a sourceSelector in Istio's words. `path` names the entry in findings. */
export function callersOf(selector: IdentitySelector, path: string, trustDomains: readonly TrustDomain[]): Callers {
  const { kubeIdentityMatcher, kubeServiceAccountRefs, ...rest } = selector;
  const unknown = Object.keys(rest).map((field) => notUnderstood(`${path}.${field}`));
  if (unknown.length > 0) return { source: undefined, findings: unknown };

  const { clusters = [], namespaces = [] } = kubeIdentityMatcher ?? {};
  const { serviceAccounts = [] } = kubeServiceAccountRefs ?? {};
  if (kubeServiceAccountRefs !== undefined && serviceAccounts.length === 0) return { source: undefined, findings: [accountsMissing(path)] };
  const found = [
    ...clusters.map((clusterName, i): Principals => {
      const { domains, findings } = domainsOf(clusterName, `${path}.kubeIdentityMatcher.clusters[${i}]`, trustDomains);
      return { principals: domains.flatMap((domain) => anyOf(namespaces).map((namespace) => principal(domain, namespace, ""))), findings };
    }),
    ...serviceAccounts.map((account, i) =>
      serviceAccountPrincipals(account, `${path}.kubeServiceAccountRefs.serviceAccounts[${i}]`, trustDomains),
    ),
  ];
  const principals = [...new Set(found.flatMap((one) => one.principals))];
  const findings = found.flatMap((one) => one.findings);
  // Without its principals the entry would say too little: its namespaces alone let in more.
  if (findings.length > 0 && principals.length === 0) return { source: undefined, findings };
  // Namespaces alone hold for every cluster; with clusters they are part of the principals.
  return { source: sourceOf(principals, clusters.length === 0 ? namespaces : []), findings };
}

interface Principals {
  readonly principals: readonly string[];
  readonly findings: readonly Finding[];
}

interface ServiceAccount {
  readonly name?: string;
  readonly namespace?: string;
  readonly clusterName?: string;
}

function serviceAccountPrincipals(account: ServiceAccount, path: string, trustDomains: readonly TrustDomain[]): Principals {
  const { name = "", namespace = "", clusterName = "" } = account;
  if (name !== "" && namespace === "") {
    // A principal may have one star, at either end.
    if (clusterName === "") return { principals: [`*/sa/${name}`], findings: [] };
    return { principals: [], findings: [notSayable(path, name, clusterName)] };
  }
  const { domains, findings } = domainsOf(clusterName, `${path}.clusterName`, trustDomains);
  return { principals: domains.map((domain) => principal(domain, namespace, name)), findings };
}

/** The trust domains of a cluster; of every mesh for "". With several meshes in a cluster the last one by key counts. */
function domainsOf(
  clusterName: string,
  path: string,
  trustDomains: readonly TrustDomain[],
): { readonly domains: readonly string[]; readonly findings: readonly Finding[] } {
  const known = clusterName === "" ? trustDomains : trustDomains.filter((one) => one.clusterName === clusterName).slice(-1);
  // Nothing found must not become a source that says nothing: that would allow everybody.
  if (known.length === 0) return { domains: [], findings: [domainUnknown(path, clusterName)] };
  return { domains: known.map(({ trustDomain }) => trustDomain), findings: [] };
}

/** Istio's name of an identity, without the scheme; an empty namespace or name stands for any. Source: istio.io, AuthorizationPolicy, Source.principals. */
function principal(trustDomain: string, namespace: string, name: string): string {
  return intern(namespace === "" ? `${trustDomain}/ns/*` : [trustDomain, "ns", namespace, "sa", name || "*"].join("/"));
}

// Istio refuses a source that says nothing.
function sourceOf(principals: readonly string[], namespaces: readonly string[]): AuthorizationSource | undefined {
  if (principals.length === 0 && namespaces.length === 0) return undefined;
  return { ...(principals.length === 0 ? {} : { principals }), ...(namespaces.length === 0 ? {} : { namespaces }) };
}

function anyOf(namespaces: readonly string[]): readonly string[] {
  return namespaces.length === 0 ? [""] : namespaces;
}

function notUnderstood(path: string): Finding {
  return invalidFinding(
    "SelectorNotUnderstood",
    `${path}: is not supported, so this policy is rejected: use kubeIdentityMatcher or kubeServiceAccountRefs`,
  );
}

function accountsMissing(path: string): Finding {
  return invalidFinding(
    "SelectorNotUnderstood",
    `${path}.kubeServiceAccountRefs.serviceAccounts: is empty, so this policy is rejected: name a service account, or remove kubeServiceAccountRefs`,
  );
}

function domainUnknown(path: string, clusterName: string): Finding {
  return invalidFinding(
    "TrustDomainUnknown",
    `${path}: no Istio mesh with a trust domain is known in ${clusterName === "" ? "any cluster" : `cluster ${clusterName}`}: check the name, that the cluster is registered, and that its mesh configuration sets a trustDomain`,
  );
}

function notSayable(path: string, name: string, clusterName: string): Finding {
  return invalidFinding(
    "ServiceAccountNamespaceMissing",
    `${path}.namespace: is required with name and clusterName: Istio cannot match service account ${name} in all namespaces of ${clusterName}, and a wider match would allow too much`,
  );
}
