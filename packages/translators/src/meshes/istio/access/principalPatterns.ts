/** Istio's word for the trust domain of the mesh that reads it. Source: istio.io/istio pkg/config/constants, DefaultClusterLocalDomain. */
export const LOCAL_TRUST_DOMAIN = "cluster.local";

/**
 * The principals that one in a rule stands for, in a mesh with these trust domains: its own, and its aliases. A trust domain is replaced in principals
 * of the full form alone: `cluster.local/ns/*` stands for itself. Source: istio.io/istio pilot/pkg/security/trustdomain/bundle.go.
 */
export function expandedPrincipals(principal: string, own: readonly string[]): readonly string[] {
  const parts = principal.split("/");
  const [trustDomain = ""] = parts;
  if (parts.length !== PARTS || trustDomain === "*") return [principal];
  if (trustDomain !== LOCAL_TRUST_DOMAIN && !own.some((one) => isAlike(trustDomain, one))) return [principal];
  const rest = parts.slice(1).join("/");
  return own.map((one) => (isSuffix(one, trustDomain) ? principal : `${one}/${rest}`));
}

// DOMAIN/ns/NAMESPACE/sa/NAME.
const PARTS = 5;

/** Either may have a star. */
function isAlike(a: string, b: string): boolean {
  return a === b || b === "*" || isPrefix(a, b) || isPrefix(b, a) || isSuffix(a, b) || isSuffix(b, a);
}

function isPrefix(text: string, pattern: string): boolean {
  return pattern.endsWith("*") && text.startsWith(pattern.slice(0, -1));
}

function isSuffix(text: string, pattern: string): boolean {
  return pattern.startsWith("*") && text.endsWith(pattern.slice(1));
}
