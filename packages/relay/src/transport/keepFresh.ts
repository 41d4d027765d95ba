import { type CertificateFacts, renewalTime } from "@isthmus/certificates";
import { type Clock, type Log, messageOf } from "@isthmus/core";
import { RelayError } from "../session/relayError.ts";

export interface Freshness {
  readonly clusterName: string;
  /** Of the certificate in use. */
  readonly facts: CertificateFacts;
  /** Aborted when the server goes by other roots than this agent: they come with the next certificate. */
  readonly otherRoots: AbortSignal;
  /** Gets and keeps another certificate. */
  readonly renew: () => Promise<void>;
  /** Called when it is there. */
  readonly done: (reason: string) => void;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly log: Log;
}

/** Renews a certificate in time, once, unless it is aborted before. Rejects when it is. */
export async function keepFresh(options: Freshness, signal: AbortSignal): Promise<void> {
  const { clusterName, facts, otherRoots, renew, done, clock, random, log } = options;
  // Never at once: a certificate that is old when it is issued must not make us run in a circle.
  const waitMs = Math.max(SHORTEST_RETRY_MS, renewalTime(facts, random) - clock.now());
  await clock.sleep(waitMs, AbortSignal.any([signal, otherRoots])).catch(() => undefined);
  signal.throwIfAborted();
  if (otherRoots.aborted) {
    // Not all agents of a fleet at once.
    await clock.sleep(SHORTEST_RETRY_MS + random() * Math.min(SPREAD_MS, (facts.notAfter - facts.notBefore) / 10), signal);
  }
  for (;;) {
    try {
      await renew();
      return done("it has a new certificate");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RelayError && error.code === "Refused") {
        // Nor will it be granted later: the one who gave us this certificate has to give us the next one.
        log.warn({ cluster: clusterName }, `the management server refused to renew the client certificate: ${error.message}`);
        return;
      }
      const leftMs = facts.notAfter - clock.now();
      log.warn(
        { cluster: clusterName, expiresAt: new Date(facts.notAfter).toISOString() },
        `cannot renew the client certificate: ${messageOf(error)}`,
      );
      await clock.sleep(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, leftMs / 10)), signal);
    }
  }
}

const SHORTEST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
const SPREAD_MS = 30_000;
