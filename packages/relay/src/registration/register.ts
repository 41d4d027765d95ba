import { AGENT_LIFETIME_MS, InvalidPem, issueClientCertificate } from "@isthmus/certificates";
import { isClusterName, UsageError } from "@isthmus/core";
import type { Clock, Log } from "../session/environment.ts";
import { RelayError } from "../session/relayError.ts";
import { agentNames } from "./identity.ts";
import type { ServerIdentity } from "./serverIdentity.ts";
import { startThrottle } from "./throttle.ts";
import { isSameToken } from "./token.ts";

/** Which cluster is registered under which name. */
export interface Registrations {
  /** The UID that is recorded for a name. Undefined: there is no such cluster; "": there is, and no agent has registered yet. */
  uidOf(clusterName: string): Promise<string | undefined>;
  /** Records a name and its UID. Rejects when another UID came first, and with UsageError when settings forbid new clusters. */
  register(clusterName: string, uid: string): Promise<void>;
}

export interface RegistrarOptions {
  readonly registrations: Registrations;
  /** The identity as it is now. */
  readonly identity: () => ServerIdentity;
  /** The relay identity token as it is now. */
  readonly token: () => string | undefined;
  readonly lifetimeMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who asks. */
export interface Claim {
  readonly clusterName: string;
  readonly clusterUid: string;
  /** Where from, without the port. */
  readonly address: string;
}

/** What an agent gets. PEM. */
export interface Issued {
  readonly certificateChain: string;
  readonly root: string;
}

/** Decides who may call itself what, and issues certificates. All methods reject with RelayError. */
export interface Registrar {
  /** For who has the token: records the cluster. Failures are throttled by address and by cluster name. */
  admit(claim: Claim, token: string): Promise<void>;
  /** The same, and a certificate for the key of `request`. */
  register(claim: Claim, token: string, request: string): Promise<Issued>;
  /** A new certificate for who has shown a valid one. */
  renew(claim: Claim, request: string): Promise<Issued>;
}

export function startRegistrar(options: RegistrarOptions): Registrar {
  const { registrations, identity, token: expected, lifetimeMs = AGENT_LIFETIME_MS, clock, log } = options;
  const throttle = startThrottle();
  const turns = new Map<string, Promise<unknown>>();

  function checkToken({ clusterName, address }: Claim, token: string): void {
    const keys = [`address ${address}`, `cluster ${clusterName}`];
    const waitMs = throttle.waitMs(keys, clock.now());
    if (waitMs > 0)
      throw new RelayError(
        "Throttled",
        `too many wrong tokens from ${address} or for ${clusterName}: try again in ${Math.ceil(waitMs / 1000)} s`,
      );
    if (isSameToken(token, expected())) {
      throttle.succeeded(keys);
      return;
    }
    throttle.failed(keys, clock.now());
    log.warn({ cluster: clusterName, address }, `refused a registration of ${JSON.stringify(clusterName)}: wrong token`);
    throw new RelayError(
      "WrongToken",
      "the token is not the management server's: copy the Secret relay-identity-token-secret from the management cluster",
    );
  }

  function checkName({ clusterName, clusterUid }: Claim): void {
    if (!isClusterName(clusterName)) {
      throw new RelayError(
        "Refused",
        `${JSON.stringify(clusterName.slice(0, 80))} cannot name a cluster: up to 63 lower-case letters, digits and dashes, such as cluster-1`,
      );
    }
    if (clusterUid === "")
      throw new RelayError("Refused", `the agent of ${clusterName} did not say the UID of its cluster (that of the namespace kube-system)`);
  }

  /** One at a time for each name: of two clusters that register together, one comes first. */
  async function record(claim: Claim): Promise<void> {
    const { clusterName, clusterUid } = claim;
    const before = turns.get(clusterName) ?? Promise.resolve();
    const turn = before.then(async () => {
      const known = await registrations.uidOf(clusterName);
      if (known === clusterUid) return;
      if (known !== undefined && known !== "") throw taken(claim);
      try {
        await registrations.register(clusterName, clusterUid);
      } catch (error) {
        if (error instanceof UsageError) throw new RelayError("Refused", error.message, error);
        // Perhaps another replica was faster.
        const now = await registrations.uidOf(clusterName);
        if (now !== clusterUid) throw now === undefined || now === "" ? error : taken(claim);
      }
      log.info({ cluster: clusterName, uid: clusterUid, address: claim.address }, `registered ${clusterName}`);
    });
    const settled = turn.catch(() => undefined);
    turns.set(clusterName, settled);
    try {
      await turn;
    } finally {
      if (turns.get(clusterName) === settled) turns.delete(clusterName);
    }
  }

  function taken({ clusterName, clusterUid, address }: Claim): RelayError {
    log.warn({ cluster: clusterName, uid: clusterUid, address }, `refused a registration of ${clusterName}: another cluster has this name`);
    return new RelayError(
      "ClusterNameTaken",
      `another cluster is registered as ${clusterName}: give this one another name, or delete the KubernetesCluster ${clusterName} if the other one is gone`,
    );
  }

  async function issue(clusterName: string, request: string): Promise<Issued> {
    const { signing, root } = identity();
    if (signing === undefined)
      throw new RelayError("Refused", "this management server issues no certificates: give the agent a client certificate of your own");
    try {
      const certificateChain = await issueClientCertificate(signing, request, { ...agentNames(clusterName), now: clock.now(), lifetimeMs });
      return { certificateChain, root };
    } catch (error) {
      if (error instanceof InvalidPem) throw new RelayError("Refused", error.message, error);
      throw error;
    }
  }

  async function admit(claim: Claim, token: string): Promise<void> {
    checkToken(claim, token);
    checkName(claim);
    await record(claim);
  }

  return {
    admit,
    async register(claim, token, request) {
      checkToken(claim, token);
      checkName(claim);
      // Before the name is taken: a request that is none must not take it.
      const issued = await issue(claim.clusterName, request);
      await record(claim);
      return issued;
    },
    async renew(claim, request) {
      const known = await registrations.uidOf(claim.clusterName);
      if (known === undefined) throw new RelayError("Refused", `${claim.clusterName} is no longer registered`);
      if (known !== "" && known !== claim.clusterUid) throw taken(claim);
      return issue(claim.clusterName, request);
    },
  };
}
