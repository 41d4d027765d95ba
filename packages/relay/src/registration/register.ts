import { AGENT_LIFETIME_MS, InvalidPem, issueClientCertificate, keyOfRequest } from "@isthmus/certificates";
import { type Clock, isClusterName, keptText, type Log, UsageError } from "@isthmus/core";
import { RelayError } from "../session/relayError.ts";
import { checkCertificate, isCertificateValid, type PresentedCertificate, unitOf } from "./certificateCheck.ts";
import { checkEntitled, isAnothers, previousOf, type RegistrationProof, taken } from "./entitlement.ts";
import { agentNames } from "./identity.ts";
import type { JoinToken, JoinTokens } from "./joinTokens.ts";
import { newNames } from "./newNames.ts";
import type { Registered, Registrations } from "./registrations.ts";
import type { ServerIdentity } from "./serverIdentity.ts";
import { startTokenVerifier } from "./tokenVerifier.ts";

export interface RegistrarOptions {
  readonly registrations: Registrations;
  /** The identity as it is now. */
  readonly identity: () => ServerIdentity;
  /** The relay identity token as it is now. */
  readonly token: () => string | undefined;
  /** Undefined: there are none. */
  readonly joinTokens?: JoinTokens | undefined;
  /** Of agents' certificates, as it is now. Default: 24 h. */
  readonly lifetimeMs?: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who asks. */
export interface RegistrationRequest {
  readonly clusterName: string;
  readonly clusterUid: string;
  /** Where from, without the port. */
  readonly address: string;
}

/** What an agent gets. PEM. */
export interface IssuedCredentials {
  readonly certificateChain: string;
  readonly root: string;
}

/** Decides who may call itself what, and issues certificates. All methods reject with RelayError. */
export interface Registrar {
  /** For who has the shared token: records the cluster. Failures are throttled by address. */
  admit(claim: RegistrationRequest, token: string): Promise<void>;
  /** The same, also for who has a join token, which is used up; and a certificate for the key of `request`. `previous`: a certificate of ours for the same key. */
  register(
    claim: RegistrationRequest,
    token: string,
    asked: { readonly request: string; readonly previous?: string },
  ): Promise<IssuedCredentials>;
  /** Refuses a certificate that verifies and is no longer good, as far as this replica has heard. */
  checkEntitlement(clusterName: string, shown: PresentedCertificate): Promise<void>;
  /** A new certificate for who has shown a good one. */
  renew(claim: RegistrationRequest, shown: PresentedCertificate, request: string): Promise<IssuedCredentials>;
}

/** Runs the registrations of one name, or of one UID, one after the other within this replica; failed tokens are counted in memory. */
export function startRegistrar(options: RegistrarOptions): Registrar {
  const { registrations, identity, token, joinTokens, lifetimeMs = () => AGENT_LIFETIME_MS, clock, log } = options;
  const admission = startTokenVerifier({ token, joinTokens, clock, log });
  const opened = newNames(clock);
  const turns = new Map<string, Promise<unknown>>();

  function checkName({ clusterName }: RegistrationRequest): void {
    if (!isClusterName(clusterName)) {
      throw new RelayError(
        "Refused",
        `${JSON.stringify(keptText(clusterName, 80))} is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens, such as cluster-1`,
      );
    }
  }

  function checkUid({ clusterName, clusterUid }: RegistrationRequest): void {
    if (clusterUid === "")
      throw new RelayError("Refused", `the agent of ${clusterName} did not send the UID of its cluster (the UID of namespace kube-system)`);
    if (clusterUid.length > LONGEST_UID) throw new RelayError("Refused", `the agent of ${clusterName} sent an invalid UID of its cluster`);
  }

  /** One at a time for each name, and for each UID: of two that register together, one comes first. */
  async function inTurn(names: readonly string[], act: () => Promise<void>): Promise<void> {
    const before = Promise.all(names.map((name) => turns.get(name)));
    const turn = before.then(act);
    const settled = turn.catch(() => undefined);
    for (const name of names) turns.set(name, settled);
    try {
      await turn;
    } finally {
      for (const name of names) if (turns.get(name) === settled) turns.delete(name);
    }
  }

  function record(claim: RegistrationRequest, token: "shared" | JoinToken, proof?: RegistrationProof): Promise<void> {
    const { clusterName, clusterUid } = claim;
    return inTurn([`name ${clusterName}`, `uid ${clusterUid}`], async () => {
      const known = await registrations.find(clusterName);
      await checkEntitled(claim, { known, token, ...(proof === undefined ? {} : { proof }) }, { registrations, log });
      if (known?.uid === clusterUid) return;
      if (known === undefined && token === "shared") checkAllowance(claim);
      const key = proof === undefined ? {} : { key: proof.key };
      try {
        await registrations.register({ clusterName, clusterUid, isExpected: token !== "shared", ...key });
      } catch (error) {
        if (error instanceof UsageError) throw new RelayError("Refused", error.message, error);
        // Perhaps another replica was faster.
        const now = await registrations.find(clusterName);
        if (now?.uid !== clusterUid) throw isAnothers(now, claim) ? taken(claim, log) : error;
      }
      // Before anybody has a certificate for the name: that it is taken is not left to a watch.
      await registrations.remember(claim);
      log.info({ cluster: clusterName, uid: clusterUid, address: claim.address }, `registered ${clusterName}`);
    });
  }

  function checkAllowance({ clusterName, address }: RegistrationRequest): void {
    const waitMs = opened.take(address);
    if (waitMs === 0) return;
    const message = `many new clusters have registered with the shared token: ${clusterName} is admitted in ${Math.ceil(waitMs / 1000)} s, or with a join token ("meshctl cluster token create --cluster ${clusterName}")`;
    log.warn({ cluster: clusterName, address }, `${message}: see whether they are yours, and rotate the token if not`);
    throw new RelayError("Throttled", message);
  }

  async function proofOf(request: string, previous: string): Promise<RegistrationProof> {
    try {
      const key = await keyOfRequest(request);
      const { root, signing } = identity();
      const authorities = signing === undefined ? "" : `${root}\n${signing.certificate}`;
      const facts = await previousOf(previous, { key, authorities, now: clock.now() });
      return { key, ...(facts === undefined ? {} : { previous: facts }) };
    } catch (error) {
      if (error instanceof InvalidPem) throw new RelayError("Refused", error.message, error);
      throw error;
    }
  }

  async function issue(
    { clusterName, clusterUid }: RegistrationRequest,
    known: Registered | undefined,
    request: string,
  ): Promise<IssuedCredentials> {
    const { signing, root } = identity();
    if (signing === undefined) throw issuesNothing();
    const notBefore = known?.revokedBefore ?? 0;
    if (notBefore > clock.now()) {
      throw new RelayError("Refused", `${clusterName} is revoked until ${new Date(notBefore).toISOString()}, by this server's clock`);
    }
    const names = { ...agentNames(clusterName), organizationalUnit: unitOf(clusterUid) };
    try {
      const certificateChain = await issueClientCertificate(signing, request, {
        ...names,
        now: clock.now(),
        lifetimeMs: lifetimeMs(),
        notBefore,
      });
      return { certificateChain, root };
    } catch (error) {
      if (error instanceof InvalidPem) throw new RelayError("Refused", error.message, error);
      throw error;
    }
  }

  return {
    async admit(claim, given) {
      const right = await admission.check(claim, given);
      checkName(claim);
      checkUid(claim);
      if (right !== "shared")
        throw new RelayError(
          "Refused",
          "a join token is only used to obtain a certificate, but this management server runs without client certificates",
        );
      await record(claim, right);
    },
    async register(claim, given, { request, previous = "" }) {
      const right = await admission.check(claim, given);
      checkName(claim);
      checkUid(claim);
      if (identity().signing === undefined) throw issuesNothing();
      const known = await registrations.find(claim.clusterName);
      const proof = await proofOf(request, previous);
      await checkEntitled(claim, { known, token: right, proof }, { registrations, log });
      // Before the name is taken: a request that is none, or not signed by its own key, must not take it.
      const issued = await issue(claim, known, request);
      await record(claim, right, proof);
      // Last: a join token is not lost to a registration that fails for another reason.
      if (right !== "shared" && !(await right.use())) {
        throw new RelayError("WrongToken", `the join token for ${claim.clusterName} has already been used: create a new one`);
      }
      return issued;
    },
    async checkEntitlement(clusterName, shown) {
      // What was last heard may be older than a registration of a moment ago: before anybody is refused, it is asked.
      if (isCertificateValid(clusterName, await registrations.lastKnown(clusterName), shown)) return;
      checkCertificate(clusterName, await registrations.find(clusterName), shown);
    },
    async renew(claim, shown, request) {
      const known = await registrations.find(claim.clusterName);
      checkCertificate(claim.clusterName, known, shown);
      if (isAnothers(known, claim)) throw taken(claim, log);
      checkName(claim);
      checkUid(claim);
      return issue(claim, known, request);
    },
  };
}

function issuesNothing(): RelayError {
  return new RelayError("Refused", "this management server does not issue certificates: provide a client certificate for the agent");
}

// A UUID has 36 characters; it goes into the certificate.
const LONGEST_UID = 128;
