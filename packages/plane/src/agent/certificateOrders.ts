import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import { fingerprints, type TrustGeneration } from "@isthmus/certificates";
import { type Resource, refOf, resourceKeyOf } from "@isthmus/core";

// What a management server orders of the CA of a mesh, as its agent reads it.

/** An order for the CA of one mesh. */
export type Order = IssuedCertificate;
/** The roots that are to be installed. */
export type RootOrder = NonNullable<NonNullable<Order["spec"]>["trust"]> & { readonly signer: string; readonly rootCertificates: string };

/** The order that a resource is; undefined for what cannot be read. */
export function orderIn(resource: Resource): Order | undefined {
  try {
    return IssuedCertificate.parse(resource);
  } catch {
    // A server of another version: what is not understood is not done.
    return undefined;
  }
}

/** The roots that are ordered; undefined as long as there are none. */
export function trustIn({ spec }: Order): RootOrder | undefined {
  const { trust } = spec ?? {};
  const { signer = "", rootCertificates = "" } = trust ?? {};
  return trust === undefined || signer === "" || rootCertificates === "" ? undefined : { ...trust, signer, rootCertificates };
}

/** The answer to the request for an order's CA. */
export function answerIn(order: Order, ordered: ReadonlyMap<string, Resource>): CertificateRequest | undefined {
  const key = resourceKeyOf({ ...refOf(order), apiVersion: CertificateRequest.apiVersion, kind: CertificateRequest.kind });
  const resource = ordered.get(key);
  try {
    return resource === undefined ? undefined : CertificateRequest.parse(resource);
  } catch {
    return undefined;
  }
}

/**
 * A text of what a CA is issued with: another one is a reason to issue it again. Without a demand to reissue, the last one stands: that
 * somebody withdraws it is none.
 */
export function optionsOf({ spec }: Order, issuedWith: string | undefined): string {
  const { ttlDays, rsaKeySizeBytes, orgName } = spec?.certOptions ?? {};
  const reissue = spec?.trust?.reissue ?? reissuedWith(issuedWith);
  return JSON.stringify([ttlDays, rsaKeySizeBytes, orgName, spec?.hosts, ...(reissue === undefined ? [] : [reissue])]);
}

/** The demand that a CA was issued on, if any. */
function reissuedWith(issuedWith = "[]"): string | undefined {
  try {
    const [, , , , reissue] = JSON.parse(issuedWith) as readonly unknown[];
    return typeof reissue === "string" ? reissue : undefined;
  } catch {
    // Somebody else wrote there.
    return undefined;
  }
}

/** What the Secret holds once an order is followed. */
export async function orderedGeneration({ rootCertificates, signer }: RootOrder): Promise<readonly TrustGeneration[]> {
  return [{ roots: await fingerprints(rootCertificates), signer, installedAt: 0 }];
}
