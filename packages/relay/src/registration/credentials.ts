import { type CertificateFacts, certificateFacts, InvalidPem } from "@isthmus/certificates";
import { clusterOfCertificate } from "./identity.ts";

/** What an agent got at its registration, as PEM texts: the contents of relay-client-tls-secret. */
export interface RelayCredentials {
  /** `tls.crt`: its own certificate, then those of the authorities below the root. */
  readonly certificate: string;
  /** `tls.key` */
  readonly key: string;
  /** `ca.crt`: the server's roots. */
  readonly root: string;
  /** Somebody else made it: it is used as it is, and neither renewed nor replaced. */
  readonly isProvided?: boolean;
}

/** Where an agent keeps its credentials. */
export interface CredentialStore {
  load(): Promise<RelayCredentials | undefined>;
  save(credentials: RelayCredentials): Promise<void>;
}

/** Whether credentials can be used for a cluster now: what they say, or why they cannot. */
export function usability(
  credentials: RelayCredentials,
  clusterName: string,
  now: number,
): CertificateFacts | { readonly problem: string } {
  let facts: CertificateFacts;
  try {
    facts = certificateFacts(credentials.certificate);
  } catch (error) {
    if (error instanceof InvalidPem) return { problem: `cannot parse the stored certificate: ${error.message}` };
    throw error;
  }
  if (now >= facts.notAfter) return { problem: `the certificate expired at ${new Date(facts.notAfter).toISOString()}` };
  const named = clusterOfCertificate(facts);
  if (named !== clusterName) return { problem: `the stored certificate is for ${named ?? "no cluster"}, not for ${clusterName}` };
  return facts;
}
