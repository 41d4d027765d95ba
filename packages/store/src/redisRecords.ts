import type { Store } from "@isthmus/ports";
import type { SignedNotice } from "./redisNotices.ts";
import { RECORD, RECORDS, SET_RECORD } from "./redisScripts.ts";
import { LONGEST, type RedisKeys, type RedisTexts } from "./redisWire.ts";
import type { RejectedEntry } from "./rejectedEntries.ts";

export interface RedisRecordsOptions {
  readonly keys: RedisKeys;
  readonly open: () => Promise<{ readonly texts: RedisTexts; readonly signed: (said: readonly string[]) => SignedNotice }>;
  readonly script: <T>(text: string, keys: readonly string[], args: readonly (string | number)[]) => Promise<T>;
  readonly tried: <T>(attempt: () => Promise<T | undefined>) => Promise<T>;
  readonly refuse: (what: RejectedEntry, where: string) => void;
  readonly now: () => number;
}

type Records = Pick<Store, "record" | "records" | "putRecord" | "removeRecord" | "exchangeRecord">;

/** The small values of a store. One that was not signed for its place, or whose time is over, is none. */
export function redisRecords({ keys, open, script, tried, refuse, now }: RedisRecordsOptions): Records {
  async function valueIn(group: string, name: string, text: string): Promise<string | undefined> {
    if (text === "") return undefined;
    const found = (await open()).texts.recordIn(group, name, text);
    if (found === undefined) refuse("record", `${name} of ${group}`);
    return found === undefined || (found.until ?? Number.POSITIVE_INFINITY) <= now() ? undefined : found.value;
  }

  const textOf = (group: string, name: string) => script<string>(RECORD, [keys.record(group) + name], [LONGEST.record]);

  /** Gives whether it was so, and what was there. */
  async function set(group: string, name: string, { from, to, ttlMs }: Change): Promise<readonly [boolean, string]> {
    const { texts, signed } = await open();
    const until = ttlMs === undefined ? undefined : now() + ttlMs + GRACE_MS;
    const text = to === undefined ? "" : texts.record(group, name, { value: to, until });
    const { signature, texts: said } = signed(["recorded", group, name]);
    const life = ttlMs === undefined ? "" : Math.ceil(ttlMs);
    const [was, before] = await script<[number, string]>(
      SET_RECORD,
      [keys.record(group) + name, keys.records(group), keys.channel],
      [LONGEST.record, from === undefined ? "" : "1", from ?? "", text, life, name, signature, ...said],
    );
    return [was === 1, before];
  }

  return {
    async record(group, name) {
      await open();
      return valueIn(group, name, await textOf(group, name));
    },
    async records(group) {
      await open();
      const args = [keys.record(group), LONGEST.key, LONGEST.record, MOST_NAMES];
      const flat = await script<string[]>(RECORDS, [keys.records(group)], args);
      const found = new Map<string, string>();
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const [name, text] = [flat[i] as string, flat[i + 1] as string];
        const value = await valueIn(group, name, text);
        if (value !== undefined) found.set(name, value);
      }
      return found;
    },
    async putRecord(group, name, value, { ttlMs, ifAbsent = false } = {}) {
      await open();
      const life = ttlMs === undefined ? {} : { ttlMs };
      if (!ifAbsent) return (await set(group, name, { to: value, ...life }))[0];
      return tried(async () => {
        const from = await textOf(group, name);
        if ((await valueIn(group, name, from)) !== undefined) return false;
        return (await set(group, name, { from, to: value, ...life }))[0] || undefined;
      });
    },
    async removeRecord(group, name) {
      const [, before] = await set(group, name, {});
      return (await valueIn(group, name, before)) !== undefined;
    },
    async exchangeRecord(group, name, { from: expected, to }) {
      await open();
      return tried(async () => {
        const from = await textOf(group, name);
        if ((await valueIn(group, name, from)) !== expected) return false;
        return (await set(group, name, { from, ...(to === undefined ? {} : { to }) }))[0] || undefined;
      });
    },
  };
}

interface Change {
  /** The text that must be there; undefined: whatever is. */
  readonly from?: string;
  readonly to?: string;
  readonly ttlMs?: number;
}

// Redis ends a record in time. Who keeps it from that gains no more than this: servers' clocks may differ.
const GRACE_MS = 600_000;
const MOST_NAMES = 100_000;
