import { type KeyedCertificate, newRequest } from "./x509.ts";

/** A new key and a certificate request (PKCS #10) for it, both PEM. The key never leaves the one who makes it. */
export interface SigningRequest {
  readonly request: string;
  readonly key: string;
}

/** `commonName` is for readers only: who issues the certificate decides its names. */
export function createRequest(commonName: string): Promise<SigningRequest> {
  return newRequest(commonName);
}

/** A certificate request for the key of a certificate that its holder has: it shows that the certificate is the holder's own. Rejects with InvalidPem for a key that cannot be used. */
export function createRequestFor(commonName: string, current: KeyedCertificate): Promise<SigningRequest> {
  return newRequest(commonName, current);
}
