import { keptText } from "@isthmus/core";
import type { StoreCapacity } from "@isthmus/ports";

/**
 * What Redis says of its memory in `INFO memory`, which is asked instead of `CONFIG GET`: managed ones refuse that. What it does not say, or says in another
 * form, is not known. Source: redis.io/docs/latest/commands/info.
 */
export function redisCapacity(info: string): StoreCapacity {
  const says = new Map(
    keptText(info, LONGEST)
      .split("\n")
      .flatMap((line): readonly (readonly [string, string])[] => {
        const [, name, value] = /^([a-z_]+):(.*)$/.exec(line.trim()) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value]];
      }),
  );
  const bytes = (name: string) => (/^\d{1,15}$/.test(says.get(name) ?? "") ? Number(says.get(name)) : undefined);
  const [used, limit, policy] = [bytes("used_memory"), bytes("maxmemory"), says.get("maxmemory_policy")];
  if (used === undefined || limit === undefined || policy === undefined) return { unknown: "it does not say how much memory it may use" };
  // What is on its way to replicas and into its file does not count against the limit.
  const usedBytes = Math.max(0, used - (bytes("mem_not_counted_for_evict") ?? 0));
  if (limit === 0) return { usedBytes };
  return { usedBytes, limitBytes: limit, ...(policy === "noeviction" ? {} : { evictionPolicy: keptText(policy, LONGEST_POLICY) }) };
}

// It takes some 2 KiB.
const LONGEST = 16 * 1_024;
const LONGEST_POLICY = 32;

/** Whether Redis refuses to write for want of memory. Source: Redis' error code OOM, which scripts pass on. */
export function isOutOfMemory(message: string): boolean {
  return /\bOOM\b/.test(message);
}
