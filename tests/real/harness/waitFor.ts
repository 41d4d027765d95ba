import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@isthmus/core";

export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * Tries until `probe` gives something. Throws after `timeoutMs` with what was seen last; the default is no promise of anything,
 * but when to give up on a busy machine.
 */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 60_000, everyMs = 100 }: WaitOptions = {},
): Promise<T> {
  const end = Date.now() + timeoutMs;
  let last = "nothing yet";
  while (true) {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      last = messageOf(error);
    }
    if (Date.now() > end) throw new Error(`waited ${timeoutMs / 1000} s for ${what}; last: ${last}`);
    await sleep(everyMs);
  }
}
