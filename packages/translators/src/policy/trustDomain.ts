/** The trust domain of a mesh, and the cluster that it is in. */
export interface TrustDomain {
  readonly clusterName: string;
  readonly trustDomain: string;
  /** Trust domains that count as its own in the rules that the mesh enforces. */
  readonly aliases?: readonly string[];
  /** Why it is not the one that the configuration of the mesh names. */
  readonly problem?: string;
}

/** Whether a text is a trust domain that principals can be made of: a DNS name of at most 253 characters, without `*`. Source: spiffe.io, SPIFFE ID, 2.1. */
export function isTrustDomain(text: string): boolean {
  return text.length > 0 && text.length <= 253 && text.split(".").every(isLabel);
}

function isLabel(label: string): boolean {
  return label.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(label);
}
