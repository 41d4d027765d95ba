import { Secret } from "@isthmus/api";
import { type Clock, type Log, messageOf, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { runReflector } from "../informer/reflector.ts";
import { keepGenerated, publishGenerated, stepGenerated } from "./generatedSecrets.ts";
import {
  checkedToken,
  GENERATED_SECRET,
  type GeneratedIdentity,
  identityIn,
  RELAY_SECRETS,
  type RelayIdentity,
  tokenIn,
  tokenWarning,
} from "./relaySecrets.ts";
import { ensureSecret, readSecret, type SecretData, secretTexts } from "./secretData.ts";

export interface RelayIdentityOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Makes an identity, when there is none. */
  readonly make: () => Promise<GeneratedIdentity>;
  /** The next step of an identity that was made here; the very same when nothing is due. */
  readonly rotate: (identity: GeneratedIdentity) => Promise<GeneratedIdentity>;
  /** How often to ask `rotate`. */
  readonly rotationCheckMs: number;
  /** Whether this replica leads. Others take over what they read. */
  readonly isLeader: () => boolean;
  /** The relay identity token, when it does not come from its Secret. */
  readonly givenToken: string | undefined;
  readonly makeToken: () => string;
  /** Takes another identity into use. Throws UsageError when it cannot be used: then the one before continues. */
  readonly changed: (identity: RelayIdentity) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** What the relay is known by, as the Secrets say it now. */
export interface KeptIdentity {
  readonly identity: RelayIdentity;
  readonly token: string;
  readonly ended: Promise<void>;
}

/**
 * Makes sure that there are an identity and a token, and follows their Secrets. Nothing that somebody else made is ever
 * written: what is absent is created, and an identity that was made here is renewed before it expires. Rejects with
 * UsageError when only some of the Secrets exist, as a key that is kept elsewhere cannot be guessed.
 */
export async function keepRelayIdentity(options: RelayIdentityOptions, signal: AbortSignal): Promise<KeptIdentity> {
  const { cluster, namespace, clock, random, log, givenToken, changed } = options;
  const place = { cluster, namespace };
  const secrets = new Map<string, SecretData>();
  let identity = await initial();
  let token = await initialToken();
  warnOfToken();

  function warnOfToken(): void {
    const warning = tokenWarning(token);
    if (warning !== undefined) log.warn({}, warning);
  }

  async function initial(): Promise<RelayIdentity> {
    const read = async () => {
      for (const name of [RELAY_SECRETS.root, RELAY_SECRETS.signing, RELAY_SECRETS.server, GENERATED_SECRET]) {
        const data = await readSecret(cluster, { name, namespace }, signal);
        if (data !== undefined) secrets.set(name, data);
      }
      return secrets.has(GENERATED_SECRET) ? undefined : identityIn(secrets, namespace);
    };
    const provided = await read();
    if (provided !== undefined) return provided;
    const made = await keepGenerated(place, options.make, signal);
    await publishGenerated(place, made, { log, signal });
    await read();
    return identityIn(secrets, namespace) ?? made;
  }

  async function initialToken(): Promise<string> {
    if (givenToken !== undefined && givenToken !== "") return checkedToken(givenToken, "the token of RELAY_TOKEN or --relay-token");
    const ref = { name: RELAY_SECRETS.token, namespace };
    return tokenIn(await ensureSecret(cluster, ref, async () => ({ token: options.makeToken() }), signal), namespace);
  }

  /** Takes into use what the Secrets say; what cannot be used is reported, and changes nothing. */
  function reload(): void {
    try {
      const next = identityIn(secrets, namespace);
      if (next !== undefined && JSON.stringify(next) !== JSON.stringify(identity)) {
        changed(next);
        identity = next;
        log.info({}, "the certificates of the relay server have changed; using the new ones");
      }
      const data = secrets.get(RELAY_SECRETS.token);
      const given = data === undefined || (givenToken ?? "") !== "" ? token : tokenIn(data, namespace);
      if (given === token) return;
      token = given;
      log.info({}, "the relay identity token has changed; using the new one");
      warnOfToken();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      log.error({}, `${error.message}; the previous one is still used`);
    }
  }

  const take = (secret: Secret) => RELEVANT.has(secret.metadata.name) && secrets.set(secret.metadata.name, secretTexts(secret));
  const following = runReflector(
    {
      cluster,
      kind: Secret,
      list: { namespace },
      clock,
      random,
      emit(event) {
        // A Secret that is gone says nothing: what it held stays in use, and a generated one is made again.
        if (event.type === "listed") event.items.forEach(take);
        else if (event.type === "put") take(event.resource);
        else return;
        reload();
      },
    },
    signal,
  );

  async function rotation(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(options.rotationCheckMs, signal).catch(() => undefined);
      if (signal.aborted || !options.isLeader()) continue;
      try {
        const made = await stepGenerated(place, options.rotate, signal);
        if (made !== undefined) await publishGenerated(place, made, { log, signal });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ClusterError || error instanceof UsageError)) throw error;
        log.warn({}, `cannot check or renew the certificates of the relay server: ${messageOf(error)}; retrying`);
      }
    }
  }

  return {
    get identity() {
      return identity;
    },
    get token() {
      return token;
    },
    ended: Promise.all([following, rotation()]).then(() => undefined),
  };
}

const RELEVANT: ReadonlySet<string> = new Set(Object.values(RELAY_SECRETS));
