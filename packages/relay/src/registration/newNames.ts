import { type Clock, uptimeOf } from "@isthmus/core";

/** How many names the shared token may open: every agent knows it, and each name stays recorded. */
export interface NewNames {
  /** Takes the right to open one name from an address; says how long to wait where there is none, in milliseconds, else 0. */
  take(address: string): number;
}

/**
 * 500 names at once, of one address 250, and one more of each every minute: a fleet joins at once, and a stolen token does not fill the record of names within
 * days. A join token opens its name at any time.
 */
export function newNames(clock: Clock): NewNames {
  // In order of their last use.
  const byAddress = new Map<string, Allowance>();
  const all: Allowance = { left: AT_ONCE, at: uptimeOf(clock) };

  function refilled(allowance: Allowance, most: number): Allowance {
    const at = uptimeOf(clock);
    allowance.left = Math.min(most, allowance.left + (at - allowance.at) / PAUSE_MS);
    allowance.at = at;
    return allowance;
  }

  return {
    take(address) {
      const own = refilled(byAddress.get(address) ?? { left: AT_ONCE_OF_ADDRESS, at: uptimeOf(clock) }, AT_ONCE_OF_ADDRESS);
      refilled(all, AT_ONCE);
      const left = Math.min(own.left, all.left);
      if (left < 1) return Math.ceil((1 - left) * PAUSE_MS);
      own.left--;
      all.left--;
      byAddress.delete(address);
      byAddress.set(address, own);
      for (const oldest of byAddress.keys()) {
        if (byAddress.size <= MOST_ADDRESSES) break;
        byAddress.delete(oldest);
      }
      return 0;
    },
  };
}

interface Allowance {
  left: number;
  at: number;
}

const AT_ONCE = 500;
const AT_ONCE_OF_ADDRESS = 250;
const PAUSE_MS = 60_000;
// All together open no more names than these at once.
const MOST_ADDRESSES = 1_000;
