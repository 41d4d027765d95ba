import { X509Certificate } from "node:crypto";
import { Secret } from "@isthmus/api";
import { RELAY_SECRETS } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";

/** A certificate that the relay needs. */
export interface RelayCertificate {
  readonly secret: string;
  readonly key: string;
  /** Milliseconds since 1970; undefined where the Secret has nothing that can be read as a certificate. */
  readonly validity: { readonly from: number; readonly until: number } | undefined;
}

// The leaf of a chain comes first. Of several roots, all are trusted until one is left: the last to end is the one that matters.
const CERTIFICATES = [
  { secret: RELAY_SECRETS.root, key: "ca.crt", isBundle: true },
  { secret: RELAY_SECRETS.signing, key: "tls.crt", isBundle: false },
  { secret: RELAY_SECRETS.server, key: "tls.crt", isBundle: false },
] as const;

/** Reads the certificates of the relay; a Secret that does not exist has none, as in setups that do not need it. Rejects with ClusterError. */
export async function readRelayCertificates(
  cluster: Cluster,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly RelayCertificate[]> {
  const found: RelayCertificate[] = [];
  for (const { secret, key, isBundle } of CERTIFICATES) {
    const object = await cluster.get(Secret, { name: secret, namespace }, signal);
    if (object === undefined) continue;
    const validities = certificatesIn(Buffer.from(object.data?.[key] ?? "", "base64").toString("utf8")).map(validityOf);
    const readable = validities.flatMap((validity) => validity ?? []);
    const last = isBundle ? readable.toSorted((a, b) => b.until - a.until)[0] : validities[0];
    found.push({ secret, key, validity: last });
  }
  return found;
}

const END = "-----END CERTIFICATE-----";
// More than any chain or set of roots in use; each takes a moment to read.
const MOST = 32;

function certificatesIn(pem: string): readonly string[] {
  return pem
    .split(END, MOST)
    .filter((part) => part.includes("-----BEGIN CERTIFICATE-----"))
    .map((part) => part + END);
}

function validityOf(pem: string): RelayCertificate["validity"] {
  try {
    const { validFrom, validTo } = new X509Certificate(pem);
    return { from: Date.parse(validFrom), until: Date.parse(validTo) };
  } catch {
    // Reported as what cannot be read.
    return undefined;
  }
}
