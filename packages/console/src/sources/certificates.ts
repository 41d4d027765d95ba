import { certificateFacts, InvalidPem, readOnce } from "@isthmus/certificates";
import type { CertificateEntry } from "@isthmus/plane";
import type { ConsoleCertificate } from "../wire.ts";

/** Certificates as they are shown; who asks again has the same list as long as nothing has changed. `factsOf`: see `factsOfCertificates`. */
export function shownCertificates(entries: readonly CertificateEntry[], factsOf: FactsOfPem): readonly ConsoleCertificate[] {
  return entries.map((entry) => {
    const { use, cluster, name, namespace, state, next, notBefore, notAfter, virtualMesh } = entry;
    return {
      cluster,
      kind: use,
      name: namespace === "" ? name : `${namespace}/${name}`,
      ...(entry.certificate === undefined ? {} : factsOf(entry.certificate)),
      ...(notBefore === undefined ? {} : { notBefore }),
      ...(notAfter === undefined ? {} : { notAfter }),
      ...(virtualMesh === undefined ? {} : { virtualMesh }),
      ...(state === "VALID" || state === "NO_EXPIRY" ? {} : { problem: next }),
      state,
      next,
    };
  });
}

/** What a certificate says of itself, by its PEM. */
type FactsOfPem = (pem: string) => Pick<ConsoleCertificate, "subject" | "issuer">;

/** Reads each certificate once, and remembers as many as fleets have. */
export function factsOfCertificates(): FactsOfPem {
  return readOnce(read);
}

function read(pem: string): ReturnType<FactsOfPem> {
  try {
    const { subject, issuer } = certificateFacts(pem);
    return { subject, issuer };
  } catch (error) {
    // An agent's word, or a Secret of somebody else's making.
    if (!(error instanceof InvalidPem)) throw error;
    return {};
  }
}
