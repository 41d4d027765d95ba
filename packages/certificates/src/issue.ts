import { AGENT_LIFETIME_MS, SERVER_LIFETIME_MS, validity } from "./lifetimes.ts";
import { type CertificateTemplate, certificateFacts, issueForRequest, issueWithKey, type KeyedCertificate } from "./x509.ts";

export interface IssueOptions {
  readonly dnsNames: readonly string[];
  readonly uris?: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly lifetimeMs?: number;
  /** The certificate counts from this moment at the earliest, though clocks differ. Milliseconds since 1970. */
  readonly notBefore?: number;
  /** The organizational unit in the subject's name. */
  readonly organizationalUnit?: string;
}

/** A certificate for a server, with its key. The first name is also its common name. Default: one year. */
export function issueServerCertificate(authority: KeyedCertificate, options: IssueOptions): Promise<KeyedCertificate> {
  return issueWithKey(templateOf(authority, options, SERVER_LIFETIME_MS, "server"), authority);
}

/**
 * A certificate for a client that has sent a request, as a chain in PEM: its own, then the authority's. Names come from
 * `options`, never from the request. Default: one day. Throws InvalidPem for a request that is none.
 */
export async function issueClientCertificate(authority: KeyedCertificate, request: string, options: IssueOptions): Promise<string> {
  const certificate = await issueForRequest(request, templateOf(authority, options, AGENT_LIFETIME_MS, "client"), authority);
  return certificate + authority.certificate;
}

function templateOf(
  authority: KeyedCertificate,
  options: IssueOptions,
  defaultMs: number,
  usage: "server" | "client",
): CertificateTemplate {
  const { dnsNames, uris = [], now, lifetimeMs = defaultMs, notBefore = 0, organizationalUnit } = options;
  const times = validity(now, lifetimeMs, { authority: certificateFacts(authority.certificate), earliest: notBefore });
  const unit = organizationalUnit === undefined ? {} : { organizationalUnit };
  return { commonName: dnsNames[0] ?? uris[0] ?? "", ...unit, dnsNames, uris, ...times, pathLength: undefined, usages: [usage] };
}
