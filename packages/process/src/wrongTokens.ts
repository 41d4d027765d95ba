/** How often wrong tokens are asked about: of each address, and of all together. */
export interface WrongTokens {
  /** Takes a question about a token of this address, which counts as wrong until the returned function is called; undefined: not now. */
  take(address: string | undefined): (() => void) | undefined;
}

export interface WrongTokensOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Of one address: so many at once, and one more after each second. Default: 60. */
  readonly ofOne?: number;
  /** Of all: so many at once, and ten more after each second. Default: 200. */
  readonly inAll?: number;
}

/**
 * Budgets of questions to the Kubernetes API that only wrong tokens use up. A right token costs nothing, so that users are never counted; who had a
 * right one before is asked about also while others use up the budget of all.
 */
export function wrongTokens({ now, ofOne = OF_ONE, inAll = IN_ALL }: WrongTokensOptions): WrongTokens {
  // Both in order of their last use.
  const byAddress = new Map<string, Budget>();
  const known = new Set<string>();
  const all: Budget = { left: inAll, at: now() };

  function refill(budget: Budget, most: number, perSecond: number): Budget {
    const at = now();
    budget.left = Math.min(most, budget.left + ((at - budget.at) / 1_000) * perSecond);
    budget.at = at;
    return budget;
  }

  return {
    take(address = "") {
      const own = refill(byAddress.get(address) ?? { left: ofOne, at: now() }, ofOne, PER_SECOND_OF_ONE);
      refill(all, inAll, PER_SECOND_IN_ALL);
      if (own.left < 1 || (all.left < 1 && !known.has(address))) return undefined;
      own.left--;
      all.left--;
      // What is full again says no more than what is not there.
      keepNewest(byAddress, MOST_ADDRESSES - 1, address);
      byAddress.set(address, own);
      return () => {
        own.left++;
        all.left++;
        keepNewest(known, MOST_ADDRESSES - 1, address);
        known.add(address);
      };
    },
  };
}

interface Budget {
  left: number;
  at: number;
}

/** Without `key`, and the oldest beyond `most`. */
function keepNewest(of: Map<string, unknown> | Set<string>, most: number, key: string): void {
  of.delete(key);
  for (const oldest of of.keys()) {
    if (of.size <= most) break;
    of.delete(oldest);
  }
}

// Who mistypes, or has a script with an old token, tries less. At one guess a second no random token is found.
const OF_ONE = 60;
const PER_SECOND_OF_ONE = 1;
// An API server answers thousands of questions a second.
const IN_ALL = 200;
const PER_SECOND_IN_ALL = 10;
// Of about 100 bytes each. An attacker with more addresses than these is still bound by what all have.
const MOST_ADDRESSES = 10_000;
