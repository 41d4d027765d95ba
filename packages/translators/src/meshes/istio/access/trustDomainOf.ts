import type { Mesh } from "@isthmus/api";
import { isTrustDomain, type TrustDomain } from "../../../policy/trustDomain.ts";

/** Undefined for a mesh that names none, or what is no trust domain: a principal with a star could be anybody. */
export function trustDomainOf({ spec }: Mesh): TrustDomain | undefined {
  const { trustDomain = "", trustDomainAliases = [], trustDomainProblem = "", installation } = spec?.istio ?? {};
  if (!isTrustDomain(trustDomain)) return undefined;
  return {
    clusterName: installation?.cluster ?? "",
    trustDomain,
    ...(trustDomainAliases.length === 0 ? {} : { aliases: trustDomainAliases }),
    ...(trustDomainProblem === "" ? {} : { problem: trustDomainProblem }),
  };
}
