import type { Settings, VirtualDestination } from "@isthmus/api";
import { DEFAULT_CLUSTER_DOMAIN, DEFAULT_HOSTNAME_SUFFIX, isClusterName as isDnsLabel, keptText } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import { policyScopeFrom } from "../policyScope.ts";

/** What of a translation's context says who may give which host. */
export interface HostRules {
  readonly settings: Settings | undefined;
  /** Namespace of the management plane. */
  readonly namespace: string;
  readonly clusterDomains: ReadonlyMap<string, string>;
}

/** Whether a text is a DNS name in lower case, without wildcard, dots at its ends or labels that are too long. */
export function isDnsName(text: string): boolean {
  return text.length <= MOST_LETTERS && text.split(".").every(isDnsLabel);
}

/** Of a DNS name. */
export const MOST_LETTERS = 253;

/**
 * Why a user's resource may not give a host, by the name alone, whatever exists: nobody gives a name of the form that Services, federated services and those
 * that fail over have, also of those that come later; and where policies are limited to their own namespace, a host is of that namespace.
 */
export function givenHostFindings(
  path: string,
  host: string,
  giver: Pick<VirtualDestination, "metadata">,
  rules: HostRules,
): readonly Finding[] {
  const form = reservedForm(host, rules.clusterDomains);
  if (form !== undefined) {
    return [invalidFinding("HostTaken", `${path}: ${host} has the form of ${form}: choose another, such as reviews.mesh.global`)];
  }
  const { namespace } = policyScopeFrom(rules).limitOf(giver);
  if (namespace === undefined) return [];
  const suffixes = suffixesOf(namespace, rules.settings);
  if (suffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))) return [];
  const allowed = suffixes.length === 0 ? "no suffix" : suffixes.slice(0, MOST_NAMED).join(", ");
  const message = `${path}: ${keptText(host, MOST_LETTERS)} is not a host of namespace ${namespace}: the Settings limit policies to their own namespace (policies.namespaces), and give it ${allowed} (policies.hostSuffixes): choose a host that ends in one, or ask for one there`;
  return [invalidFinding("HostOutOfReach", message)];
}

const MOST_NAMED = 5;

/** Whose names a host, or a suffix of hosts, would be among; undefined where nobody's. */
export function reservedForm(host: string, clusterDomains: ReadonlyMap<string, string>): string | undefined {
  const labels = host.split(".");
  if (labels.indexOf("svc", 2) >= 0) return "the host of a Service";
  if (labels[2] === "failover") return "a host of services that fail over";
  if (isNumeric(host)) return "an IP address";
  const domain = [DEFAULT_CLUSTER_DOMAIN, ...clusterDomains.values()].find((one) =>
    ["svc", "pod"].some((part) => `.${host}`.endsWith(`.${part}.${one}`)),
  );
  return domain === undefined ? undefined : `names in the cluster domain ${domain}`;
}

/** Whether a name ends as addresses do, and no domain does. Source: RFC 3696, section 2. */
export function isNumeric(name: string): boolean {
  return !Number.isNaN(Number(name.slice(name.lastIndexOf(".") + 1)));
}

/** What hosts of a namespace end in; unless the Settings give it others, its own name and the suffix of federated services. */
function suffixesOf(namespace: string, settings: Settings | undefined): readonly string[] {
  const { hostSuffixes = {} } = settings?.spec?.policies ?? {};
  return Object.hasOwn(hostSuffixes, namespace)
    ? (hostSuffixes[namespace] ?? []).filter(isSuffix)
    : [`${namespace}.${DEFAULT_HOSTNAME_SUFFIX}`];
}

// One label would give all hosts below it, such as those of federated services.
function isSuffix(text: string): boolean {
  return text.includes(".") && isDnsName(text);
}

/** That the Settings give a namespace a suffix that is none: it gives nothing. */
export function hostSuffixFindings({ spec }: Settings): readonly Finding[] {
  return Object.entries(spec?.policies?.hostSuffixes ?? {}).flatMap(([namespace, suffixes]) =>
    suffixes.flatMap((suffix, i) => {
      if (isSuffix(suffix)) return [];
      const path = `spec.policies.hostSuffixes.${keptText(namespace, MOST_LETTERS)}[${i}]`;
      const message = `${path}: ${JSON.stringify(keptText(suffix, MOST_LETTERS))} is not a DNS name of two or more parts, so it gives no host: set one such as shop.mesh.global`;
      return [warningFinding("HostSuffixIgnored", message)];
    }),
  );
}
