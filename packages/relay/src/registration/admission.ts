import type { Clock, Log } from "../session/environment.ts";
import { RelayError } from "../session/relayError.ts";
import type { JoinToken, JoinTokens } from "./joinTokens.ts";
import { startThrottle } from "./throttle.ts";
import { isSameToken } from "./token.ts";

export interface AdmissionOptions {
  /** The relay identity token as it is now. */
  readonly token: () => string | undefined;
  readonly joinTokens: JoinTokens | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Judges tokens. Failures are throttled by address and by cluster name. */
export interface Admission {
  /** What a right token is: the shared one ("shared"), or a join token that is still to be used up. Rejects with RelayError. */
  check(caller: { readonly clusterName: string; readonly address: string }, token: string): Promise<"shared" | JoinToken>;
}

export function startAdmission({ token: expected, joinTokens, clock, log }: AdmissionOptions): Admission {
  const throttle = startThrottle();

  return {
    async check({ clusterName, address }, token) {
      // Cut, as a caller that nobody knows yet may say anything.
      const keys = [`address ${address}`, `cluster ${clusterName.slice(0, 80)}`];
      const waitMs = throttle.waitMs(keys, clock.now());
      if (waitMs > 0)
        throw new RelayError(
          "Throttled",
          `too many wrong tokens from ${address} or for ${clusterName}: try again in ${Math.ceil(waitMs / 1000)} s`,
        );
      if (isSameToken(token, expected())) {
        throttle.succeeded(keys);
        return "shared";
      }
      // Counted before it is known to be wrong: many guesses at once must not all pass before the first has failed.
      throttle.failed(keys, clock.now());
      const found = await joinTokens?.find(token, clusterName);
      if (found !== undefined && !("problem" in found)) {
        throttle.succeeded(keys);
        return found;
      }
      const why = found?.problem ?? "wrong token";
      log.warn({ cluster: clusterName, address }, `refused a registration of ${JSON.stringify(clusterName)}: ${why}`);
      throw new RelayError(
        "WrongToken",
        found?.problem ??
          "the token is not the management server's: copy the Secret relay-identity-token-secret from the management cluster, or " +
            `create a join token there with "meshctl cluster token create --cluster ${clusterName}"`,
      );
    },
  };
}
