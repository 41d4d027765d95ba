import { constants } from "node:crypto";
import type { PeerCertificate, SecureContextOptions } from "node:tls";
import { SIGNING_NAME } from "../registration/rotation.ts";

/**
 * What both ends of the relay speak: TLS 1.3, or 1.2 with forward secrecy and authenticated encryption alone; those of 1.3 first.
 * The list is also what OpenSSL goes by for 1.3. A client cannot have a handshake done again and again on one connection.
 */
export const TLS_POLICY = {
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.3",
  honorCipherOrder: true,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  ciphers: [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
  ].join(":"),
} satisfies SecureContextOptions;

/**
 * Refuses a server whose certificate comes from the authority that signs agents'. OpenSSL does so by that authority's extended key
 * usage; those that older versions made, which count for years, have none, and are known by their name.
 */
export function signingAuthorityOf(certificate: PeerCertificate): string | undefined {
  const seen = new Set<PeerCertificate>();
  for (let at: PeerCertificate | undefined = certificate; at !== undefined && !seen.has(at); at = issuerOf(at)) {
    seen.add(at);
    // A name that several fields bear is no name of ours.
    if (at.issuer?.CN === SIGNING_NAME || at.subject?.CN === SIGNING_NAME) return SIGNING_NAME;
  }
  return undefined;
}

function issuerOf(certificate: PeerCertificate): PeerCertificate | undefined {
  return (certificate as { readonly issuerCertificate?: PeerCertificate }).issuerCertificate;
}
