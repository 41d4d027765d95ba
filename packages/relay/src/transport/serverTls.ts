import { createSecureContext, type SecureContextOptions } from "node:tls";
import { certificateFacts, chainFacts } from "@isthmus/certificates";
import { messageOf, UsageError } from "@isthmus/core";
import type { ServerIdentity } from "../registration/serverIdentity.ts";
import { TLS_POLICY } from "./tlsPolicy.ts";

/** By what a server proves who it is and judges client certificates, under our policy. Throws UsageError for an identity that cannot be used. */
export function serverTlsContext(identity: ServerIdentity): SecureContextOptions {
  checkIdentity(identity);
  const { certificate, key } = identity.server;
  return { ...TLS_POLICY, cert: certificate, key, ca: clientRoots(identity) };
}

/** Who may vouch for agents: the roots, and the chain of our own signing authority. */
function clientRoots({ root, signing }: ServerIdentity): string {
  return signing === undefined ? root : `${root}\n${signing.certificate}`;
}

/** What users put into the Secrets, said by their names. */
function checkIdentity({ root, signing, server }: ServerIdentity): void {
  check("relay-root-tls-secret", () => chainFacts(root));
  check("relay-server-tls-secret", () => createSecureContext({ cert: server.certificate, key: server.key }));
  if (signing === undefined) return;
  check("relay-tls-signing-secret", () => {
    createSecureContext({ cert: signing.certificate, key: signing.key });
    if (!certificateFacts(signing.certificate).isAuthority)
      throw new UsageError("its certificate is not a CA certificate (basicConstraints CA:TRUE)");
  });
}

function check(secret: string, use: () => void): void {
  try {
    use();
  } catch (error) {
    throw new UsageError(`the certificates of the relay server cannot be used: ${secret}: ${messageOf(error)}`);
  }
}
