import type { LoggingProxy } from "../loggingProxy.ts";
import type { Protocol } from "./accessLogFrame.ts";

/** One entry of an access log as Envoy encoded it, and by whom. */
export interface StoredEntry {
  readonly proxy: LoggingProxy;
  readonly logName: string;
  readonly protocol: Protocol;
  /** An HTTPAccessLogEntry or TCPAccessLogEntry. */
  readonly bytes: Uint8Array;
  readonly status: number;
  /** Whether it came from an address that the cluster gave to that pod. */
  readonly verified: boolean;
  /** Whether headers were cut. */
  readonly cut: boolean;
}

/** How much an `EntryStore` keeps. */
export interface EntryLimits {
  /** Entries of one proxy. */
  readonly entriesPerProxy: number;
  readonly proxies: number;
  /** Of all, with what each entry costs beside its own bytes. */
  readonly bytes: number;
}

/** Source: spec of the agent's services; 50 is the product's `accessLogsBufferSize`. */
export const ENTRY_LIMITS: EntryLimits = { entriesPerProxy: 50, proxies: 5_000, bytes: 64 * 1024 * 1024 };

/** The newest entries of each proxy, in memory that never grows beyond its limits. */
export interface EntryStore {
  /** Adds one; whatever is above a limit then goes, the oldest first, and of proxies that are not verified before all others. */
  add(entry: StoredEntry): void;
  /** The newest first. */
  newest(): Iterable<StoredEntry>;
  readonly size: number;
  readonly proxies: number;
  /** What counts towards the limit. */
  readonly bytes: number;
}

/** A place in two lists: of all entries of its class, and of its proxy. */
interface Place {
  readonly entry: StoredEntry;
  readonly order: number;
  readonly ring: Ring;
  older: Place | undefined;
  newer: Place | undefined;
}

/** The entries of one proxy, the oldest first: a few dozen. */
interface Ring {
  readonly key: string;
  readonly places: Place[];
}

/** Those of one degree of trust. A proxy that claims to be another has a ring of its own, and displaces nothing that is verified. */
interface Class {
  /** By proxy; the one who wrote last is at the end. */
  readonly rings: Map<string, Ring>;
  oldest: Place | undefined;
  newest: Place | undefined;
}

/** Starts empty. `dropped` is called with each entry that goes to make room, by the limit that it met. */
export function entryStore(limits: EntryLimits, dropped: (reason: DropReason) => void): EntryStore {
  const verified: Class = { rings: new Map(), oldest: undefined, newest: undefined };
  const unverified: Class = { rings: new Map(), oldest: undefined, newest: undefined };
  let bytes = 0;
  let size = 0;
  let order = 0;

  function remove(of: Class, place: Place, reason: DropReason): void {
    if (place.older === undefined) of.oldest = place.newer;
    else place.older.newer = place.newer;
    if (place.newer === undefined) of.newest = place.older;
    else place.newer.older = place.older;
    // Nearly always the first.
    place.ring.places.splice(place.ring.places.indexOf(place), 1);
    if (place.ring.places.length === 0) of.rings.delete(place.ring.key);
    bytes -= costOf(place.entry);
    size -= 1;
    dropped(reason);
  }

  function forgetProxy(): void {
    const from = unverified.rings.size > 0 ? unverified : verified;
    for (const [key, ring] of from.rings) {
      for (const place of [...ring.places]) remove(from, place, "Proxies");
      from.rings.delete(key);
      return;
    }
  }

  return {
    add(entry) {
      const to = entry.verified ? verified : unverified;
      const key = `${entry.proxy.namespace}/${entry.proxy.podName}`;
      const ring = to.rings.get(key) ?? { key, places: [] };
      const [first] = ring.places;
      if (first !== undefined && ring.places.length >= limits.entriesPerProxy) remove(to, first, "Ring");
      order += 1;
      const place: Place = { entry, order, ring, older: to.newest, newer: undefined };
      if (to.newest === undefined) to.oldest = place;
      else to.newest.newer = place;
      to.newest = place;
      ring.places.push(place);
      to.rings.delete(key);
      to.rings.set(key, ring);
      bytes += costOf(entry);
      size += 1;
      while (verified.rings.size + unverified.rings.size > limits.proxies) forgetProxy();
      while (bytes > limits.bytes) {
        if (unverified.oldest !== undefined) remove(unverified, unverified.oldest, "Memory");
        else if (verified.oldest !== undefined) remove(verified, verified.oldest, "Memory");
        else return;
      }
    },
    *newest() {
      let [one, other] = [verified.newest, unverified.newest];
      while (one !== undefined || other !== undefined) {
        if (other === undefined || (one !== undefined && one.order > other.order)) {
          if (one === undefined) return;
          yield one.entry;
          one = one.older;
        } else {
          yield other.entry;
          other = other.older;
        }
      }
    },
    get size() {
      return size;
    },
    get proxies() {
      return verified.rings.size + unverified.rings.size;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** Which limit an entry met. */
export type DropReason = "Ring" | "Proxies" | "Memory";

function costOf({ bytes }: StoredEntry): number {
  return bytes.length + ENTRY_OVERHEAD;
}

// What Node takes for the entry, its place and its buffer beside the bytes, measured and rounded up.
const ENTRY_OVERHEAD = 512;
