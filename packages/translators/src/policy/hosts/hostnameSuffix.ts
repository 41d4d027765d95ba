import type { VirtualMesh } from "@isthmus/api";
import { DEFAULT_CLUSTER_DOMAIN, keptText } from "@isthmus/core";
import { type Finding, invalidFinding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { isDnsName, reservedForm } from "./givenHosts.ts";

/** Before it stand at least `a.b.svc.c.`, in a name of at most 253 characters. Hosts that come out longer are refused by API servers, one by one. */
const LONGEST = 243;

/** Why federated hosts cannot end in the suffix of a VirtualMesh, given the DNS domains of clusters. */
export function hostnameSuffixFindings({ spec }: VirtualMesh, clusterDomains: ReadonlyMap<string, string>): readonly Finding[] {
  const { hostnameSuffix = "" } = spec?.federation ?? {};
  if (hostnameSuffix === "") return [];
  const problem = problemOf(hostnameSuffix, clusterDomains);
  if (problem === undefined) return [];
  return [
    invalidFinding("HostnameSuffixInvalid", `spec.federation.hostnameSuffix: ${JSON.stringify(keptText(hostnameSuffix, 80))} ${problem}`),
  ];
}

function problemOf(suffix: string, clusterDomains: ReadonlyMap<string, string>): string | undefined {
  if (suffix.length > LONGEST) return `is longer than ${LONGEST} characters, so nothing is federated: set a shorter one, such as global`;
  if (!isDnsName(suffix)) {
    return "is not a DNS name of lower-case letters, digits and dashes, without a dot at its ends, so nothing is federated: set one such as global or mesh.example";
  }
  const domain = [DEFAULT_CLUSTER_DOMAIN, ...clusterDomains.values()].find((one) => isAbove(suffix, one));
  if (domain !== undefined) {
    return `covers the services of clusters with the domain ${domain}, which gateways would open, so nothing is federated: set another one, such as global`;
  }
  const form = reservedForm(suffix, clusterDomains);
  return form && `has the form of ${form}, so nothing is federated: set another one, such as global`;
}

/** Whether names of Services in a cluster domain end in a suffix. */
function isAbove(suffix: string, domain: string): boolean {
  return domain === suffix || domain.endsWith(`.${suffix}`) || suffix === `svc.${domain}` || suffix.endsWith(`.svc.${domain}`);
}

/** A VirtualMesh that federates nothing. */
export const withoutFederation = memoizeRow((virtualMesh: VirtualMesh): VirtualMesh => {
  const { federation: _, ...spec } = virtualMesh.spec ?? {};
  return { ...virtualMesh, spec };
});
