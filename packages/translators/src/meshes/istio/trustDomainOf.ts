import type { Mesh } from "@isthmus/api";
import { isTrustDomain, type TrustDomain } from "../../policy/trustDomain.ts";

/** Undefined for a mesh that names none, or what is no trust domain: a principal with a star could be anybody. */
export function trustDomainOf({ spec }: Mesh): TrustDomain | undefined {
  const { trustDomain = "", trustDomainAliases = [], installation } = spec?.istio ?? {};
  if (!isTrustDomain(trustDomain)) return undefined;
  const place = { clusterName: installation?.cluster ?? "", trustDomain };
  return trustDomainAliases.length === 0 ? place : { ...place, aliases: trustDomainAliases };
}
