import type { AuthorizationSource, IdentitySelector } from "@isthmus/api";
import { intern } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import type { TrustDomain } from "../../../policy/trustDomain.ts";
import { domainVerdict, type TrustReading } from "./trustReading.ts";

/** The callers that one entry of an AccessPolicy's sourceSelector stands for. */
export interface Callers {
  /** Undefined without findings: every caller, also one without an identity. With findings: those callers that are known, none for undefined. */
  readonly source: AuthorizationSource | undefined;
  /** Why the entry, or some of its callers, cannot be said in Istio's words. */
  readonly findings: readonly Finding[];
}

/** One entry of a sourceSelector in Istio's words. `path` names the entry in findings. */
export function callersOf(selector: IdentitySelector, path: string, reading: TrustReading): Callers {
  const { kubeIdentityMatcher, kubeServiceAccountRefs, ...rest } = selector;
  const unknown = Object.keys(rest).map((field) => notUnderstood(`${path}.${field}`));
  if (unknown.length > 0) return { source: undefined, findings: unknown };

  const { clusters = [], namespaces = [] } = kubeIdentityMatcher ?? {};
  const { serviceAccounts = [] } = kubeServiceAccountRefs ?? {};
  if (kubeServiceAccountRefs !== undefined && serviceAccounts.length === 0) return { source: undefined, findings: [accountsMissing(path)] };
  const named = new Set(clusters);
  const found = [
    ...clusters.map((clusterName, i): Principals => {
      const { domains, findings } = domainsOf(clusterName, `${path}.kubeIdentityMatcher.clusters[${i}]`, { named, reading });
      return { principals: domains.flatMap((domain) => anyOf(namespaces).map((namespace) => principal(domain, namespace, ""))), findings };
    }),
    ...serviceAccounts.map((account, i) =>
      serviceAccountPrincipals(account, `${path}.kubeServiceAccountRefs.serviceAccounts[${i}]`, {
        named: clustersWith(account, serviceAccounts),
        reading,
      }),
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

/** Of all that one entry says about the same service account. */
function clustersWith({ name = "", namespace = "" }: ServiceAccount, accounts: readonly ServiceAccount[]): ReadonlySet<string> {
  const alike = accounts.filter((one) => (one.name ?? "") === name && (one.namespace ?? "") === namespace);
  return new Set(alike.map(({ clusterName = "" }) => clusterName));
}

/** The clusters of which the same callers are named, and how the mesh that enforces tells them apart. */
interface NamedCallers {
  readonly named: ReadonlySet<string>;
  readonly reading: TrustReading;
}

function serviceAccountPrincipals(account: ServiceAccount, path: string, callers: NamedCallers): Principals {
  const { name = "", namespace = "", clusterName = "" } = account;
  if (name !== "" && namespace === "") {
    // A principal may have one star, at either end.
    if (clusterName === "") return { principals: [`*/sa/${name}`], findings: [] };
    return { principals: [], findings: [notSayable(path, name, clusterName)] };
  }
  const { domains, findings } = domainsOf(clusterName, `${path}.clusterName`, callers);
  return { principals: domains.map((domain) => principal(domain, namespace, name)), findings };
}

/** The trust domains of a cluster; of every mesh for "". With several meshes in a cluster the last one by key counts. */
function domainsOf(
  clusterName: string,
  path: string,
  { named, reading }: NamedCallers,
): { readonly domains: readonly string[]; readonly findings: readonly Finding[] } {
  const { trustDomains } = reading;
  const known = clusterName === "" ? trustDomains : trustDomains.filter((one) => one.clusterName === clusterName).slice(-1);
  // Nothing found must not become a source that says nothing: that would allow everybody.
  if (known.length === 0) return { domains: [], findings: [domainUnknown(path, clusterName)] };
  const judged = known.map((place) => ({ place, verdict: domainVerdict(place, path, named, reading) }));
  return {
    domains: judged.flatMap(({ place, verdict }) => (verdict.isSayable ? [place.trustDomain] : [])),
    findings: judged.flatMap(({ place, verdict }) => [...verdict.findings, ...keptFindings(place, path)]),
  };
}

function keptFindings({ clusterName, trustDomain, problem }: TrustDomain, path: string): readonly Finding[] {
  if (problem === undefined) return [];
  const message = `${path}: callers of cluster ${clusterName} are named by the trust domain ${trustDomain}, the last known one: ${problem}`;
  return [warningFinding("TrustDomainKept", message)];
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
