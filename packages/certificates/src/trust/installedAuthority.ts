import { keptText } from "@isthmus/core";
import { InvalidPem, pemBlocks } from "@isthmus/core/pem";
import { certificateFacts, fingerprints, isIssuedUnder, isKeyOf, isSignedBy, keyOfCertificate, keyOfRequest } from "../x509.ts";

/** The CA of a mesh's control plane, as the texts of Secret `cacerts` hold it. Source: istio.io, "Plug in CA Certificates". */
export interface InstalledAuthority {
  readonly certificate: string;
  readonly key: string;
  readonly chain: string;
  readonly rootCertificates: string;
}

/** What a CA of a control plane is, without its key. Times are milliseconds since 1970. */
export interface AuthorityFacts {
  readonly rootCertificates: string;
  /** Fingerprints of the roots. */
  readonly roots: readonly string[];
  /** Fingerprint of the root that it is below. */
  readonly signer: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Of that root: no CA below it lives longer. */
  readonly rootNotAfter: number;
  /** PEM */
  readonly certificate: string;
}

/** The CA in a Secret, or undefined where a part of it is missing. */
export function authorityIn(data: Readonly<Record<string, string>>): InstalledAuthority | undefined {
  const { "ca-cert.pem": certificate = "", "ca-key.pem": key = "", "cert-chain.pem": chain = "", "root-cert.pem": roots = "" } = data;
  if (certificate === "" || key === "") return undefined;
  // A control plane's own, self-signed CA has neither: it is its own root. Source: Istio, security/pkg/pki/ca.
  return { certificate, key, chain: chain || certificate, rootCertificates: roots || certificate };
}

/** As the texts of Secret `cacerts`. `key.pem` stands empty, as the published product leaves it: the key of the root is never sent. */
export function authorityTexts({ certificate, key, chain, rootCertificates }: InstalledAuthority): Readonly<Record<string, string>> {
  return { "ca-cert.pem": certificate, "ca-key.pem": key, "cert-chain.pem": chain, "root-cert.pem": rootCertificates, "key.pem": "" };
}

/** Throws InvalidPem when it is no CA, or below none of its roots. */
export async function authorityFacts({ certificate, chain, rootCertificates }: InstalledAuthority): Promise<AuthorityFacts> {
  const texts = certificateTexts(rootCertificates);
  const roots = await fingerprints(rootCertificates);
  const { notBefore, notAfter } = certificateFacts(certificate);
  for (const [i, root] of texts.entries()) {
    const signer = roots[i];
    if (signer === undefined || !(await isBelow(certificate, chain, root))) continue;
    const { notAfter: rootNotAfter } = certificateFacts(root);
    return { rootCertificates, roots, signer, notBefore, notAfter, rootNotAfter, certificate };
  }
  throw new InvalidPem("ca-cert.pem is signed by none of the certificates in root-cert.pem");
}

async function isBelow(certificate: string, chain: string, root: string): Promise<boolean> {
  return (await isIssuedUnder(certificate, root)) || (await isIssuedUnder(chain, root));
}

/** Why a signed certificate is not to be installed; undefined: it is right. `request`: what it was asked for by. Throws InvalidPem. */
export async function answerProblem(
  { certificate, root }: { readonly certificate: string; readonly root: string },
  { request, key, signer, now }: { readonly request: string; readonly key: string; readonly signer: string; readonly now: number },
): Promise<string | undefined> {
  const { isAuthority, notAfter } = certificateFacts(certificate);
  const [fingerprint] = await fingerprints(root);
  const early = earlyProblem([certificate, root], now);
  if (fingerprint !== signer) return "it is signed by another root than was ordered";
  if (!(await isSignedBy(certificate, root))) return "it is not signed by the root that came with it";
  if (!isAuthority) return "it is not a CA certificate";
  if (notAfter <= now) return "it has expired";
  if (early !== undefined) return early;
  if ((await keyOfCertificate(certificate)) !== (await keyOfRequest(request)) || !(await isKeyOf({ certificate, key }))) {
    return "it is for another key than was asked for";
  }
  return undefined;
}

/**
 * The same of what an authority outside signed, which may be below its root by one more authority. `authorities` begins with the one that
 * signed and ends with the root. Beside that it must vouch for `uris` alone.
 */
export async function externalProblem(
  { certificate, authorities }: { readonly certificate: string; readonly authorities: readonly string[] },
  asked: {
    readonly request: string;
    readonly key: string;
    readonly signer: string;
    readonly uris: readonly string[];
    readonly now: number;
  },
): Promise<string | undefined> {
  const root = authorities.at(-1) ?? "";
  const [fingerprint] = await fingerprints(root);
  const { isAuthority, notAfter, uris, dnsNames, mayIssue, pathLength } = certificateFacts(certificate);
  if (fingerprint !== asked.signer) return "it is below another root than the one that the meshes trust";
  if (authorities.length > 2) return "more than one authority is between it and the root, which is not supported";
  if (!(await isIssuedUnder([certificate, ...authorities.slice(0, -1)].join(""), root)))
    return "it is not signed by the authorities that came with it";
  if (!isAuthority || !mayIssue) return "it is not a CA certificate";
  if (pathLength !== 0) return "its path length is not 0, as was asked for";
  if (notAfter <= asked.now) return "it has expired";
  const early = earlyProblem([certificate, ...authorities], asked.now);
  if (early !== undefined) return early;
  if ((await keyOfCertificate(certificate)) !== (await keyOfRequest(asked.request)) || !(await isKeyOf({ certificate, key: asked.key }))) {
    return "it is for another key than was asked for";
  }
  const isAsked = uris.length === asked.uris.length && uris.every((uri) => asked.uris.includes(uri)) && dnsNames.length === 0;
  return isAsked
    ? undefined
    : `it is for the identities ${keptText([...uris, ...dnsNames].join(", "), 256) || "of nobody"} instead of ${asked.uris.join(", ")}`;
}

/** Why the certificate that an authority outside calls its root is none; undefined: it is one. Throws InvalidPem. */
export async function externalRootProblem(root: string, now: number): Promise<string | undefined> {
  const { isAuthority, notAfter, notBefore } = certificateFacts(root);
  // Envoy ends chains at self-signed certificates alone.
  if (!(await isSignedBy(root, root)))
    return "its chain does not end with a self-signed root: add the root to the chain of the mount in Vault";
  if (!isAuthority) return "its root is not a CA certificate";
  return now < notBefore || now >= notAfter ? "its root has expired, or is not valid yet" : undefined;
}

/** That some of these certificates are not valid yet, and the remedy; undefined: all are. Throws InvalidPem. */
export function earlyProblem(certificates: readonly string[], now: number): string | undefined {
  const from = Math.max(...certificates.map((certificate) => certificateFacts(certificate).notBefore));
  if (from <= now) return undefined;
  const [valid, here] = [from, now].map((ms) => new Date(ms).toISOString().slice(0, 19));
  return `it is not valid before ${valid}Z, and the clock of its cluster says ${here}Z: check the clocks of who signed it and of the nodes of this cluster; it is installed once it is valid`;
}

/** Each certificate of a PEM text as a text of its own. */
function certificateTexts(pem: string): readonly string[] {
  const [begin, end] = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"];
  // Bounds what follows.
  pemBlocks(pem);
  return pem
    .split(begin)
    .slice(1)
    .map((rest) => `${begin}${rest.slice(0, rest.indexOf(end))}${end}\n`);
}
