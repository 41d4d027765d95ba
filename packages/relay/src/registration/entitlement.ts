import { type CertificateFacts, certificateFacts, InvalidPem, isIssuedUnder, keyOfCertificate } from "@isthmus/certificates";
import type { Log } from "@isthmus/core";
import { RelayError } from "../session/relayError.ts";
import { uidOf } from "./certificateCheck.ts";
import { clusterOfCertificate } from "./identity.ts";
import type { JoinToken } from "./joinTokens.ts";
import type { RegistrationRequest } from "./register.ts";
import type { Registered, Registrations } from "./registrations.ts";

/** What somebody shows beside the token. */
export interface RegistrationProof {
  /** The SHA-256 of the public key that a certificate is requested for. */
  readonly key: string;
  /** A certificate of ours for that very key, which may have expired. */
  readonly previous?: CertificateFacts;
}

/** How long a certificate that has expired still shows whose name it is: a plane that was offline for a while must not need a new token for each cluster. */
const LATEST_PROOF_MS = 30 * 86_400_000;

/** What a previous certificate shows: nothing unless it was issued under one of `authorities` (PEM), and is for the key that is asked for. */
export async function previousOf(
  certificate: string,
  { key, authorities, now }: { readonly key: string; readonly authorities: string; readonly now: number },
): Promise<CertificateFacts | undefined> {
  if (certificate === "") return undefined;
  try {
    const facts = certificateFacts(certificate);
    const isOurs = (await keyOfCertificate(certificate)) === key && (await isIssuedUnder(certificate, authorities));
    return isOurs && now <= facts.notAfter + LATEST_PROOF_MS ? facts : undefined;
  } catch (error) {
    // It shows nothing; the token may do without.
    if (error instanceof InvalidPem) return undefined;
    throw error;
  }
}

/**
 * Refuses who may not have a name by what is shown. A join token opens the name that it was made for. The shared token, which every
 * agent knows, opens names that never registered; any other only for who holds the key of its certificate, or of its first request.
 * Without client certificates (`proof` undefined) the UID alone must fit: it is no secret. Throws RelayError.
 */
export async function checkEntitled(
  claim: RegistrationRequest,
  {
    known,
    token,
    proof,
  }: { readonly known: Registered | undefined; readonly token: "shared" | JoinToken; readonly proof?: RegistrationProof },
  { registrations, log }: { readonly registrations: Registrations; readonly log: Log },
): Promise<void> {
  const { clusterName, clusterUid } = claim;
  checkNotRevoked(claim, known, { token, proof });
  const isSameCluster = known?.uid === clusterUid;
  if (isSameCluster && (token !== "shared" || proof === undefined || isHolder(claim, known, proof))) return;
  if (isAnothers(known, claim) && known?.isReplaceable !== true) throw taken(claim, log);
  const past = await registrations.past(clusterName, clusterUid);
  const live = past.others.find(({ isRegistered }) => isRegistered);
  if (live !== undefined) {
    throw new RelayError(
      "Refused",
      `the cluster that asks for the name ${clusterName} is registered as ${live.name}: use that name for its agent or, to give it ` +
        `another name, delete the KubernetesCluster ${live.name} in the management cluster`,
    );
  }
  if (token !== "shared") return;
  const [other] = past.others;
  const isNew = known === undefined && !past.wasRegistered && other === undefined;
  // Without certificates there is nothing else to show: who makes a KubernetesCluster, or lets it be replaced, opens the name.
  if (isNew || (known !== undefined && (proof === undefined || isHolder(claim, known, proof)))) return;
  if ((await registrations.sharedTokenOpens()) === "ANY_NAME") {
    log.warn(
      { cluster: clusterName, uid: clusterUid, address: claim.address },
      `${clusterName} is not a new name, but is registered with the shared token only: spec.relay.sharedToken in the Settings is ANY_NAME, so any holder of the token can take over any name`,
    );
    return;
  }
  log.warn(
    { cluster: clusterName, uid: clusterUid, address: claim.address },
    `refused a registration of ${clusterName} with the shared token: the name is not new`,
  );
  throw new RelayError("Refused", refusalOf(claim, { known, otherName: other?.name, hasProof: proof !== undefined }));
}

function refusalOf(
  { clusterName }: RegistrationRequest,
  {
    known,
    otherName,
    hasProof,
  }: { readonly known: Registered | undefined; readonly otherName: string | undefined; readonly hasProof: boolean },
): string {
  const why =
    known !== undefined && known.uid === ""
      ? `a KubernetesCluster ${clusterName} was created for it beforehand`
      : otherName !== undefined
        ? `its cluster was registered as ${otherName} before`
        : "the name has been registered before, and the agent has no certificate for it";
  const remedy = hasProof
    ? `create a join token in the management cluster with "meshctl cluster token create --cluster ${clusterName}" and put it in the ` +
      "Secret relay-identity-token-secret (key token) in the agent's namespace"
    : `create the KubernetesCluster ${clusterName} in the management cluster to allow the name again`;
  return `the shared token is not sufficient to register ${clusterName}: ${why}. ${remedy}`;
}

/** Whether somebody shows the key of the cluster that has the name, or that was on its way to have it. */
function isHolder(
  { clusterName, clusterUid }: RegistrationRequest,
  { uid, key }: Registered,
  { key: shown, previous }: RegistrationProof,
): boolean {
  if (uid !== "" && uid !== clusterUid) return false;
  if (key === shown) return true;
  return uid !== "" && previous !== undefined && clusterOfCertificate(previous) === clusterName && uidOf(previous) === clusterUid;
}

/** Refuses a token for a cluster that has been revoked: only a join token that was made afterwards lets it in again, or the key of a certificate that was issued afterwards. */
function checkNotRevoked(
  { clusterName }: RegistrationRequest,
  known: Registered | undefined,
  { token, proof }: { readonly token: "shared" | JoinToken; readonly proof: RegistrationProof | undefined },
): void {
  const revoked = known?.revokedBefore;
  if (revoked === undefined) return;
  const issued = proof?.previous?.notBefore;
  // A key that was revoked with its certificate gets none again, by no token.
  const isKeyGood = issued === undefined || issued >= revoked;
  if (isKeyGood && (token !== "shared" ? token.createdAt >= revoked : issued !== undefined)) return;
  throw new RelayError(
    "Refused",
    `${clusterName} was revoked at ${new Date(revoked).toISOString()}: to let it join again, create a join token with "meshctl cluster token create --cluster ${clusterName}" in the management cluster`,
  );
}

/** Whether a name belongs to another cluster than the one that claims it. */
export function isAnothers(known: Registered | undefined, { clusterUid }: RegistrationRequest): boolean {
  return known !== undefined && known.uid !== "" && known.uid !== clusterUid;
}

/** The error to throw for a name that another cluster has, with the remedy. Logs the refusal with name, UID and address. */
export function taken({ clusterName, clusterUid, address }: RegistrationRequest, log: Log): RelayError {
  log.warn({ cluster: clusterName, uid: clusterUid, address }, `refused a registration of ${clusterName}: another cluster has this name`);
  return new RelayError(
    "ClusterNameTaken",
    `another cluster is registered as ${clusterName}: use another name for this cluster or, if the other one no longer exists, run "meshctl cluster replace ${clusterName}" in the management cluster`,
  );
}
