import { createSecureContext } from "node:tls";
import { experimental, type ServerCredentials } from "@grpc/grpc-js";
import { certificateFacts, chainFacts } from "@isthmus/certificates";
import { messageOf, UsageError } from "@isthmus/core";
import type { ServerIdentity } from "../registration/serverIdentity.ts";

/** Credentials that ask for a client certificate, let calls without one through to be judged by the handlers, and can be exchanged. */
export interface ServerTls {
  readonly credentials: ServerCredentials;
  /** New connections see the new certificates; open ones live on. Throws UsageError for what cannot be used. */
  rotate(identity: ServerIdentity): void;
}

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

/** Throws UsageError for an identity that cannot be used. */
export function serverTls(initial: ServerIdentity): ServerTls {
  checkIdentity(initial);
  let identity = initial;
  const caListeners = new Set<CaListener>();
  const identityListeners = new Set<IdentityListener>();

  const tellCa = (listener: CaListener) => listener({ caCertificate: Buffer.from(clientRoots(identity)) });
  const tellIdentity = (listener: IdentityListener) =>
    listener({ certificate: Buffer.from(identity.server.certificate), privateKey: Buffer.from(identity.server.key) });

  // The library registers itself for an update only after it has added its listeners.
  const provider: experimental.CertificateProvider = {
    addCaCertificateListener(listener) {
      caListeners.add(listener);
      queueMicrotask(() => tellCa(listener));
    },
    removeCaCertificateListener: (listener) => void caListeners.delete(listener),
    addIdentityCertificateListener(listener) {
      identityListeners.add(listener);
      queueMicrotask(() => tellIdentity(listener));
    },
    removeIdentityCertificateListener: (listener) => void identityListeners.delete(listener),
  };
  return {
    // `false`: a connection without a client certificate is not cut, so that registration works on the same port. One object
    // stands for both providers, as the library's declaration names the two arguments the other way round than its code.
    credentials: experimental.createCertificateProviderServerCredentials(provider, provider, false),
    rotate(next) {
      checkIdentity(next);
      identity = next;
      for (const listener of caListeners) tellCa(listener);
      for (const listener of identityListeners) tellIdentity(listener);
    },
  };
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
      throw new UsageError("its certificate is not an authority's (basicConstraints CA:TRUE)");
  });
}

function check(secret: string, use: () => void): void {
  try {
    use();
  } catch (error) {
    throw new UsageError(`the certificates of the relay server cannot be used: ${secret}: ${messageOf(error)}`);
  }
}
