import type { AuthorityFacts } from "./installedAuthority.ts";
import type { TrustRequest, TrustStep } from "./trustPlan.ts";

/** What an agent knows of the CA of a mesh's control plane. */
export interface CurrentAuthority {
  readonly facts: AuthorityFacts;
  /** The options that the management server issued it with; undefined: it was issued by somebody else. */
  readonly issuedWith: string | undefined;
}

export interface AuthorityInputs {
  readonly order: Pick<TrustRequest, "rootCertificates" | "signer"> & {
    readonly step?: TrustStep;
    /** In TRUST_BOTH: below the old root can still be signed. */
    readonly isRenewable?: boolean;
  };
  readonly current: CurrentAuthority;
  /** The options that it is to have. */
  readonly options: string;
  /** Remaining fraction of its lifetime at which it is renewed. */
  readonly gracePeriodRatio: number;
  /** Whether a certificate below the ordered root has been signed for the key of the request. */
  readonly isAnswered: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * What an agent does next. `keep`: nothing. `install`: write the Secret with the ordered roots and the CA that is there already, or the
 * one that was requested. `request`: have a CA signed.
 */
export type AuthorityStep = "keep" | "installCurrent" | "installRequested" | "request";

/** A pure function of what is there: an agent that starts again continues where it was. */
export function authorityStep({ order, current, options, gracePeriodRatio, isAnswered, now }: AuthorityInputs): AuthorityStep {
  const { facts, issuedWith } = current;
  // One that ends with its root gains nothing by a renewal: the root has to be rotated.
  const isDue = now >= renewalOf(facts, gracePeriodRatio) && facts.notAfter < facts.rootNotAfter;
  const isOutdated =
    order.step === "TRUST_BOTH"
      ? // The new roots must not wait for a signature below the old one. Once they are there, others may be waited for, longer than a CA lives.
        isDue && order.isRenewable === true && facts.rootCertificates === order.rootCertificates
      : issuedWith !== undefined && (issuedWith !== options || isDue);
  if (facts.signer !== order.signer || isOutdated) return isAnswered ? "installRequested" : "request";
  return facts.rootCertificates === order.rootCertificates ? "keep" : "installCurrent";
}

/** When a CA is renewed: when no more than this fraction of its lifetime is left. One that has just been issued never is: that would be without end. */
function renewalOf({ notBefore, notAfter }: Pick<AuthorityFacts, "notBefore" | "notAfter">, ratio: number): number {
  return notAfter - (notAfter - notBefore) * Math.min(Math.max(ratio, 0), GREATEST_RATIO);
}

// A CA begins some minutes before it is issued, which must be less than the rest of its life.
const GREATEST_RATIO = 0.9;
