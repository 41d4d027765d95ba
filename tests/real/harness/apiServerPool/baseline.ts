import type { EtcdKeys, KeyChanges } from "./etcdKeys.ts";

/** Key → value, base64. */
export type Baseline = ReadonlyMap<string, string>;

/** Brings the keys of one API server to baselines, and knows which value each key has. */
export interface BaselineKeeper {
  /** All that is stored now, to come back to. */
  capture(): Promise<Baseline>;
  /** What differs from a baseline now. */
  changesTo(baseline: Baseline): Promise<KeyChanges>;
  write(changes: KeyChanges): Promise<void>;
}

/** The lease by which an API server says that it lives; it renews it itself. */
const OWN_LEASE = /^leases\/kube-system\/apiserver-/;

/** Whether a key belongs to the API server itself, so that no tenant's end changes it. */
export function isOwn(key: string): boolean {
  return OWN_LEASE.test(key);
}

/** A keeper of the keys below one prefix. Values are read when a baseline is captured, later revisions alone. */
export function baselineKeeper(keys: EtcdKeys): BaselineKeeper {
  /** Of revisions that we have read or written. */
  const known = new Map<string, { readonly revision: string; readonly value: string }>();

  return {
    async capture() {
      const values = [...(await keys.values())].filter(([key]) => !isOwn(key));
      for (const [key, found] of values) known.set(key, found);
      return new Map(values.map(([key, { value }]) => [key, value]));
    },
    async changesTo(baseline) {
      const revisions = await keys.revisions();
      const isAsWanted = (key: string, value: string): boolean => {
        const last = known.get(key);
        return last !== undefined && last.value === value && last.revision === revisions.get(key);
      };
      return {
        put: [...baseline].filter(([key, value]) => !isAsWanted(key, value)).map(([key, value]) => ({ key, value })),
        remove: [...revisions.keys()].filter((key) => !baseline.has(key) && !isOwn(key)),
      };
    },
    async write(changes) {
      const written = await keys.write(changes);
      for (const { key, value } of changes.put) known.set(key, { value, revision: written.get(key) ?? "" });
    },
  };
}
