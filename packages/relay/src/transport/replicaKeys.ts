import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { type Clock, type Log, messageOf, uptimeOf } from "@isthmus/core";
import type { RelayCredentials } from "../registration/credentials.ts";

/** What a replica of an agent shows to the others, as PEM texts. */
export type ReplicaIdentity = Pick<RelayCredentials, "certificate" | "key">;

/** How replicas of one agent know each other: all read the same client certificate of the relay, and nobody else has its key. */
export interface ReplicaKeys {
  /** Undefined while there is none that counts now. */
  readonly identity: ReplicaIdentity | undefined;
  /**
   * Whether a certificate that was shown in a handshake, which proves that its key is there, has the key of the agent's own certificate and counts
   * now. Who has signed it does not matter. The key before counts for a minute, as replicas learn of another one at different moments.
   */
  isReplica(shown: X509Certificate | undefined): Promise<boolean>;
  /** Reads the stored certificate again. */
  reload(): Promise<void>;
  /** Called with each other certificate. */
  onChange(listener: () => void): void;
}

/** The keys of the replicas whose certificate `load` reads; it is read for the first time by `reload`. With one that cannot be used nobody is a replica. */
export function replicaKeys(options: {
  readonly load: () => Promise<RelayCredentials | undefined>;
  readonly clock: Clock;
  readonly log: Log;
}): ReplicaKeys {
  const { load, clock, log } = options;
  const listeners = new Set<() => void>();
  let current: Held | undefined;
  let previous: { readonly key: KeyObject; readonly until: number } | undefined;
  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    readAt = uptimeOf(clock);
    let found: RelayCredentials | undefined;
    try {
      found = await load();
    } catch (error) {
      log.warn({}, `cannot read the client certificate, replicas of this agent use the one before: ${messageOf(error)}`);
      return;
    }
    if (found?.certificate === current?.identity.certificate && found?.key === current?.identity.key) return;
    if (current !== undefined) previous = { key: current.key, until: uptimeOf(clock) + PREVIOUS_MS };
    current = undefined;
    try {
      if (found !== undefined) current = heldOf(found);
    } catch (error) {
      log.warn({}, `cannot use the client certificate between the replicas of this agent: ${messageOf(error)}`);
    }
    for (const listener of listeners) listener();
  }

  function reload(): Promise<void> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function isKnown(key: KeyObject): boolean {
    if (current === undefined) return false;
    if (current.key.equals(key)) return true;
    return previous !== undefined && uptimeOf(clock) < previous.until && previous.key.equals(key);
  }

  return {
    get identity() {
      return current !== undefined && counts(current.certificate, clock.now()) ? current.identity : undefined;
    },
    async isReplica(shown) {
      if (shown === undefined || !counts(shown, clock.now())) return false;
      const key = shown.publicKey;
      if (isKnown(key)) return true;
      // The other one may know of another certificate already. Anybody can have this one read again, and so not often.
      if (reading === undefined && uptimeOf(clock) - readAt < REREAD_MS) return false;
      await reload();
      return isKnown(key);
    },
    reload,
    onChange: (listener) => void listeners.add(listener),
  };
}

interface Held {
  readonly identity: ReplicaIdentity;
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** Throws for what is no certificate, or not that of the key. */
function heldOf({ certificate, key }: RelayCredentials): Held {
  const parsed = new X509Certificate(certificate);
  const privateKey = createPrivateKey(key);
  if (!parsed.checkPrivateKey(privateKey)) throw new Error("its key is that of another certificate");
  return { identity: { certificate, key }, certificate: parsed, key: createPublicKey(privateKey) };
}

/** Whether now is within the times of a certificate; not where these are no times. */
function counts({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return now >= Date.parse(validFrom) && now < Date.parse(validTo);
}

const PREVIOUS_MS = 60_000;
const REREAD_MS = 1_000;
