import { AUTHORITY_LIFETIME_MS, ROOT_LIFETIME_MS, validity } from "./lifetimes.ts";
import { certificateFacts, issueWithKey, type KeyedCertificate, selfSigned } from "./x509.ts";

export interface AuthorityOptions {
  readonly commonName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Default: ten years for a root, five for an authority below it. */
  readonly lifetimeMs?: number;
  /** Of an authority below a root: what those whom it vouches for may be. Empty: anything, as older versions made it. Default: clients alone. */
  readonly usages?: readonly ("server" | "client")[];
}

/** A root that has signed itself, for one authority below it. */
export function createRoot({ commonName, now, lifetimeMs = ROOT_LIFETIME_MS }: AuthorityOptions): Promise<KeyedCertificate> {
  return selfSigned({ commonName, dnsNames: [], uris: [], ...validity(now, lifetimeMs), pathLength: 1, usages: [] });
}

/** An authority below a root, which signs certificates of the last rank only. */
export function createAuthority(root: KeyedCertificate, options: AuthorityOptions): Promise<KeyedCertificate> {
  const { commonName, now, lifetimeMs = AUTHORITY_LIFETIME_MS, usages = ["client"] } = options;
  const times = validity(now, lifetimeMs, { authority: certificateFacts(root.certificate) });
  return issueWithKey({ commonName, dnsNames: [], uris: [], ...times, pathLength: 0, usages }, root);
}
