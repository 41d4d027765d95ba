import { SortedMap } from "@isthmus/core";

/**
 * How much of a cluster the loops have taken: the size of each object that came, by kind and `keyOf`. It outlives streams, as the loops'
 * memory does: who comes back does not start with an empty account.
 */
export interface Ledger {
  readonly kinds: ReadonlyMap<string, SortedMap<number>>;
  readonly objects: number;
  readonly bytes: number;
}

export const emptyLedger: Ledger = { kinds: new Map(), objects: 0, bytes: 0 };

/** The changes of one message, which is about one kind, as they are made. */
export interface Booking {
  readonly objects: number;
  readonly bytes: number;
  /** In bytes; undefined: no such object has come. */
  sizeOf(key: string): number | undefined;
  /** Without a size the object is gone. */
  set(key: string, size: number | undefined): void;
  /** `held`: what the agent says that there is of the kind, whose lists of keys are held once where they are the same. */
  done(held?: SortedMap<unknown>): Ledger;
}

/** Begins the changes of one kind (`kindKeyOf`); `ledger` itself never changes, `done` gives the one after them. */
export function booking(ledger: Ledger, kind: string): Booking {
  const before = ledger.kinds.get(kind) ?? NONE;
  const changes = new Map<string, number | undefined>();
  let { objects, bytes } = ledger;
  const sizeOf = (key: string) => (changes.has(key) ? changes.get(key) : before.get(key));
  return {
    get objects() {
      return objects;
    },
    get bytes() {
      return bytes;
    },
    sizeOf,
    set(key, size) {
      const known = sizeOf(key);
      objects += (size === undefined ? 0 : 1) - (known === undefined ? 0 : 1);
      bytes += (size ?? 0) - (known ?? 0);
      changes.set(key, size);
    },
    done(held) {
      if (changes.size === 0) return ledger;
      const sizes = before.update(changes.entries());
      return { kinds: new Map(ledger.kinds).set(kind, held === undefined ? sizes : sizes.withKeysOf(held)), objects, bytes };
    },
  };
}

/** The ledger when the loops hold of these kinds what is in `complete`, and nothing else. */
export function keepingOnly(ledger: Ledger, complete: ReadonlyMap<string, ReadonlySet<string>>): Ledger {
  let next = ledger;
  for (const [kind, keys] of complete) {
    const gone = [...(ledger.kinds.get(kind) ?? NONE)].filter(([key]) => !keys.has(key));
    if (gone.length === 0) continue;
    const booked = booking(next, kind);
    for (const [key] of gone) booked.set(key, undefined);
    next = booked.done();
  }
  return next;
}

const NONE: SortedMap<number> = SortedMap.empty();
