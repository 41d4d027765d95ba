import { type Clock, keptText, type Log, type Semaphore, semaphore } from "@isthmus/core";
import { RelayError } from "../session/relayError.ts";
import type { JoinToken, JoinTokens } from "./joinTokens.ts";
import { startThrottle } from "./throttle.ts";
import { isSameToken } from "./token.ts";

export interface TokenVerifierOptions {
  /** The relay identity token as it is now. */
  readonly token: () => string | undefined;
  readonly joinTokens: JoinTokens | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Judges tokens. Who fails again and again from one address waits; who shows a right token never does. */
export interface TokenVerifier {
  /** What a right token is: the shared one ("shared"), or a join token that is still to be used up. Rejects with RelayError. */
  check(caller: { readonly clusterName: string; readonly address: string }, token: string): Promise<"shared" | JoinToken>;
}

/**
 * Verifies against `token` as it is at each call, then against the join tokens, at most 8 look-ups at a time for one address. Failures are
 * counted by address, in memory.
 */
export function startTokenVerifier({ token: expected, joinTokens, clock, log }: TokenVerifierOptions): TokenVerifier {
  const throttle = startThrottle();
  /** Of each address that has tokens looked up. */
  const lookups = new Map<string, Semaphore>();

  /** A join token is looked up in the management cluster: one address can't have that done without end. Nobody is turned away for it. */
  async function lookUp(address: string, token: string, clusterName: string) {
    const places = lookups.get(address) ?? semaphore(MOST_LOOKUPS);
    lookups.set(address, places);
    try {
      return await places.run(async () => joinTokens?.find(token, clusterName));
    } finally {
      // By now there may be others of that address.
      if (places.taken === 0 && lookups.get(address) === places) lookups.delete(address);
    }
  }

  return {
    async check({ clusterName: said, address }, token) {
      // Cut, as a caller that nobody knows yet may say anything; what can name a cluster is shorter.
      const clusterName = keptText(said, LONGEST_SAID);
      // Before anybody is made to wait: many agents may share an address with one that has a wrong token.
      const keys = [`address ${address}`];
      if (isSameToken(token, expected())) {
        throttle.succeeded(keys);
        return "shared";
      }
      const waitMs = throttle.waitMs(keys, clock.now());
      // Counted before it is known to be wrong: many guesses at once must not all pass before the first has failed.
      throttle.failed(keys, clock.now());
      const found = await lookUp(address, token, clusterName);
      if (found !== undefined && !("problem" in found)) {
        throttle.succeeded(keys);
        return found;
      }
      if (waitMs > 0)
        throw new RelayError("Throttled", `too many wrong tokens from ${address}: try again in ${Math.ceil(waitMs / 1000)} s`);
      log.warn({ cluster: clusterName, address }, `refused a registration of ${clusterName}: ${found?.problem ?? "wrong token"}`);
      throw new RelayError(
        "WrongToken",
        found?.problem ??
          "the token is not valid: copy the Secret relay-identity-token-secret from the management cluster, or " +
            `create a join token there with "meshctl cluster token create --cluster ${clusterName}"`,
      );
    },
  };
}

const LONGEST_SAID = 80;

/** Of one address at a time. A lookup takes milliseconds. */
const MOST_LOOKUPS = 8;
