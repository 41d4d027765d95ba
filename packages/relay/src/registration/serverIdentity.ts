import type { KeyedCertificate } from "@isthmus/certificates";

/** Everything that a relay server needs for TLS, as PEM texts: the contents of its three Secrets. */
export interface ServerIdentity {
  /** One or more roots: `ca.crt` of relay-root-tls-secret, which agents get too. */
  readonly root: string;
  /** Signs agents' certificates: relay-tls-signing-secret. Undefined: agents bring their own, and none is issued. */
  readonly signing: KeyedCertificate | undefined;
  /** relay-server-tls-secret. */
  readonly server: KeyedCertificate;
}

/** The name that agents expect of the server by default. Source: the product's second generation of names. */
export const DEFAULT_AUTHORITY = "gloo-mesh-mgmt-server.gloo-mesh";

/** Names for both generations, in the default namespace. */
export const DEFAULT_NAMES: readonly string[] = [DEFAULT_AUTHORITY, "enterprise-networking.gloo-mesh", "*.gloo-mesh"];
