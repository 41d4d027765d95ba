import { InvalidPem } from "@isthmus/core/pem";
import { type CertificateFacts, chainFacts, isKeyOf, isSignedBy, type KeyedCertificate } from "./x509.ts";

/** Keys of a Secret that holds the root of meshes. Source: specification of the published product, "User root secret". */
const ROOT_CERTIFICATE = "root-cert.pem";
const ROOT_KEY = "key.pem";

/** What a Secret holds of a root, or why intermediates cannot be signed with it. */
export type CheckedRoot =
  | { readonly root: KeyedCertificate; readonly facts: CertificateFacts }
  /** A sentence that names the key of the Secret and the remedy. */
  | { readonly problem: string };

/**
 * Reads the root in a Secret: self-signed or not, an authority that is valid at `now`, below which there may be another one, with its
 * own key. `data` are the texts of the Secret.
 */
export async function checkedRoot(data: Readonly<Record<string, string>>, now: number): Promise<CheckedRoot> {
  const { [ROOT_CERTIFICATE]: certificate = "", [ROOT_KEY]: key = "" } = data;
  if (certificate.trim() === "") return { problem: `${ROOT_CERTIFICATE} is missing: add the root certificate, PEM` };
  if (key.trim() === "") return { problem: `${ROOT_KEY} is missing: add the private key of the root, PEM` };
  try {
    const [facts, ...more] = chainFacts(certificate);
    if (facts === undefined) return { problem: `${ROOT_CERTIFICATE} contains no certificate: add the root certificate, PEM` };
    // A chain would be trusted as a whole, each certificate of it.
    if (more.length > 0) {
      return { problem: `${ROOT_CERTIFICATE} contains ${more.length + 1} certificates: leave only the one that ${ROOT_KEY} belongs to` };
    }
    const problem = problemOf(facts, now) ?? (await problemOfPair({ certificate, key }));
    return problem === undefined ? { root: { certificate, key }, facts } : { problem };
  } catch (error) {
    if (!(error instanceof InvalidPem)) throw error;
    const field = error.message.includes("key") ? ROOT_KEY : ROOT_CERTIFICATE;
    return { problem: `${field} cannot be used: ${error.message}: replace it` };
  }
}

function problemOf({ notBefore, notAfter, isAuthority, pathLength, mayIssue }: CertificateFacts, now: number): string | undefined {
  if (now >= notAfter) return `${ROOT_CERTIFICATE} expired at ${timeOf(notAfter)}: replace it and ${ROOT_KEY}`;
  if (now < notBefore)
    return `${ROOT_CERTIFICATE} is not valid before ${timeOf(notBefore)}: check the clocks, or replace it and ${ROOT_KEY}`;
  if (!isAuthority) return `${ROOT_CERTIFICATE} is not a CA certificate (basicConstraints CA:TRUE is missing): replace it and ${ROOT_KEY}`;
  if (!mayIssue) return `${ROOT_CERTIFICATE} may not sign certificates (keyUsage keyCertSign is missing): replace it and ${ROOT_KEY}`;
  if (pathLength === 0) {
    return `${ROOT_CERTIFICATE} has a path length of 0, which permits no intermediate CA below it: replace it and ${ROOT_KEY}`;
  }
  return undefined;
}

async function problemOfPair(root: KeyedCertificate): Promise<string | undefined> {
  if (!(await isKeyOf(root))) return `${ROOT_KEY} is not the private key of ${ROOT_CERTIFICATE}: replace one of them`;
  // Envoy ends chains at self-signed certificates alone. Source: Envoy, X509_V_FLAG_PARTIAL_CHAIN is off.
  if (!(await isSignedBy(root.certificate, root.certificate))) {
    return `${ROOT_CERTIFICATE} is not self-signed, so that proxies do not accept it as a root: replace it and ${ROOT_KEY} by those of the root`;
  }
  return undefined;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
