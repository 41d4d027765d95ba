import type { CertificateFacts } from "@isthmus/certificates";
import { RelayError } from "../session/relayError.ts";
import type { Registered } from "./registrations.ts";

/** What of a verified certificate decides whether it is still good. */
export type PresentedCertificate = Pick<CertificateFacts, "notBefore" | "organizationalUnit">;

/**
 * Refuses the holder of a certificate that has verified and is no longer good: its cluster is not registered (any more), the
 * certificate is revoked, or the name belongs to another cluster by now. Our certificates say the UID of their cluster as the
 * organizational unit; those of a user's own authority need not. Throws RelayError.
 */
export function checkCertificate(clusterName: string, known: Registered | undefined, shown: PresentedCertificate): void {
  if (known === undefined) {
    throw new RelayError(
      "Deregistered",
      `${clusterName} is no longer registered: KubernetesCluster ${clusterName} does not exist in the management cluster`,
    );
  }
  const { uid, revokedBefore } = known;
  if (revokedBefore !== undefined && shown.notBefore < revokedBefore) {
    throw new RelayError(
      "CertificateRefused",
      `the certificates of ${clusterName} were revoked at ${new Date(revokedBefore).toISOString()}`,
    );
  }
  const certified = uidOf(shown);
  if (certified !== undefined && uid !== "" && certified !== uid) {
    throw new RelayError("CertificateRefused", `the certificate belongs to another cluster that was registered as ${clusterName} before`);
  }
}

/** Whether `checkCertificate` has nothing against it. */
export function isCertificateValid(clusterName: string, known: Registered | undefined, shown: PresentedCertificate): boolean {
  try {
    checkCertificate(clusterName, known, shown);
    return true;
  } catch (error) {
    if (error instanceof RelayError) return false;
    throw error;
  }
}

/** The UID that one of our certificates was issued for; undefined for a certificate of somebody else. */
export function uidOf({ organizationalUnit }: Pick<PresentedCertificate, "organizationalUnit">): string | undefined {
  return organizationalUnit?.startsWith(UID_PREFIX) ? organizationalUnit.slice(UID_PREFIX.length) : undefined;
}

/** How a certificate says the UID of its cluster. */
export function unitOf(clusterUid: string): string {
  return UID_PREFIX + clusterUid;
}

const UID_PREFIX = "cluster-uid:";
