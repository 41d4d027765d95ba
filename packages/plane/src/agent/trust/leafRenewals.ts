import { type Clock, semaphore, uptimeOf } from "@isthmus/core";
import type { RestartablePod } from "./podRestarts.ts";

/**
 * How long the certificate of the proxy at an address is still valid: for so many seconds, and until when by the clock of its pod, in
 * milliseconds since 1970, where that is known; undefined where nothing is said. Rejects when there is no answer, or when `signal` is aborted.
 */
export type ReadLeafValidity = (
  address: string,
  signal: AbortSignal,
) => Promise<{ readonly secondsLeft: number; readonly endsAt: number | undefined } | undefined>;

/**
 * Which proxies have got a certificate, and the roots with it, since their control plane has read what is installed: in a mesh with several
 * roots at a time they do so without a restart, whenever the bytes of the roots change. Nothing of it needs clocks that agree: a certificate
 * that ends later than the one that was seen after the control plane had read is a newer one. Source: docs/decisions/0134.
 */
export interface LeafRenewals {
  /**
   * What is to be done next of the proxies that use earlier certificates, `since` what is installed counts. `write`: write the same roots
   * with other bytes, and call `written`. `wait`: nothing. `restart`: those that are left have not renewed theirs.
   */
  next(secret: string, outdated: readonly RestartablePod[], since: number): Promise<"write" | "wait" | "restart">;
  written(secret: string): void;
  /** The pods, of which those that have renewed their certificate are as young as what is installed. */
  applied(pods: readonly RestartablePod[]): readonly RestartablePod[];
}

/** When a certificate ends, in milliseconds. */
interface LeafEnd {
  /** Of `uptimeOf`. */
  readonly here: number;
  /** By the clock of its pod, whatever that is set to meanwhile; undefined: not known. */
  readonly there: number | undefined;
}

interface Watch {
  readonly since: number;
  /** By uid of the pod, the end of its certificate as seen at first. */
  readonly ends: Map<string, LeafEnd>;
  /** When one was seen at first last. */
  seenAt: number;
  /** One was seen at first since the last writing: what it has is not known to be renewed by it. */
  isWriteDue: boolean;
  writes: number;
  writtenAt: number;
}

/** Keeps what it saw in memory: an agent that starts again looks again, and has the roots written again. */
export function leafRenewals(
  { leafValidity, clock }: { readonly leafValidity: ReadLeafValidity; readonly clock: Clock },
  signal: AbortSignal,
): LeafRenewals {
  const watches = new Map<string, Watch>();
  /** By uid, the moment since which the pod counts as started. */
  const renewed = new Map<string, number>();

  /** When the certificates of pods end. Those that do not answer are left out. */
  async function endsOf(pods: readonly RestartablePod[]): Promise<Map<string, LeafEnd>> {
    const ends = new Map<string, LeafEnd>();
    const places = semaphore(MOST_AT_ONCE);
    const asked = pods.filter(({ uid, address }) => uid !== "" && address !== undefined).slice(0, MOST_PODS);
    await Promise.all(
      asked.map(({ uid, address = "" }) =>
        places.run(async () => {
          if (signal.aborted) return;
          const sentAt = uptimeOf(clock);
          const found = await leafValidity(address, signal).catch(() => undefined);
          if (found === undefined) return;
          // What it said holds for some moment in between.
          const here = (sentAt + uptimeOf(clock)) / 2 + found.secondsLeft * 1_000;
          ends.set(uid, { here, there: found.endsAt });
        }),
      ),
    );
    signal.throwIfAborted();
    return ends;
  }

  return {
    async next(secret, outdated, since) {
      const known = watches.get(secret);
      const fresh: Watch = { since, ends: new Map(), seenAt: 0, isWriteDue: false, writes: 0, writtenAt: uptimeOf(clock) };
      const watch = known?.since === since ? known : fresh;
      watches.set(secret, watch);
      for (const [uid, end] of await endsOf(outdated)) {
        const before = watch.ends.get(uid);
        if (before === undefined) {
          watch.ends.set(uid, end);
          Object.assign(watch, { seenAt: uptimeOf(clock), isWriteDue: watch.writes < MOST_WRITES });
        } else if (endsLater(end, before)) renewed.set(uid, since);
      }
      const now = uptimeOf(clock);
      // A certificate that was new when it was seen has to end later than it by more than the reading is wrong.
      if (watch.isWriteDue) return now < watch.seenAt + PAUSE_MS ? "wait" : "write";
      return now < watch.writtenAt + PATIENCE_MS ? "wait" : "restart";
    },
    written(secret) {
      const watch = watches.get(secret);
      if (watch !== undefined) Object.assign(watch, { isWriteDue: false, writes: watch.writes + 1, writtenAt: uptimeOf(clock) });
    },
    applied(pods) {
      const present = new Set(pods.map(({ uid }) => uid));
      for (const uid of renewed.keys()) if (!present.has(uid)) renewed.delete(uid);
      return pods.map((pod) => ({ ...pod, createdAt: Math.max(pod.createdAt, renewed.get(pod.uid) ?? 0) }));
    },
  };
}

/** By both: the clock of a node that is set back makes what is left longer, and of one that is not known nothing else is to be had. */
function endsLater(now: LeafEnd, before: LeafEnd): boolean {
  const isLaterThere = now.there === undefined || before.there === undefined || now.there > before.there + SHORTEST_GAIN_MS;
  return now.here > before.here + SHORTEST_GAIN_MS && isLaterThere;
}

const MOST_AT_ONCE = 20;
const MOST_PODS = 5_000;
const MOST_WRITES = 5;
const PAUSE_MS = 15_000;
const SHORTEST_GAIN_MS = 5_000;
// A kubelet brings a Secret into istiod after 60 to 90 s; then proxies take 16 to 43 s. Source: specification "trust on real Istio".
const PATIENCE_MS = 300_000;
