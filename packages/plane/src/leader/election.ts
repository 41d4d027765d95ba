import { Lease } from "@isthmus/api";
import { type Clock, type Log, messageOf, onAbort, uptimeOf } from "@isthmus/core";
import { type Cluster, ClusterError, type ClusterErrorCode, type Leadership } from "@isthmus/ports";

/** How long things take in an election, in milliseconds. `deadlineMs` is below `leaseMs`: a leader stops before another begins. */
export interface ElectionTiming {
  /** How long the lead stays with a holder that does not renew it. */
  readonly leaseMs: number;
  /** How old the last renewal may be before its holder stops. */
  readonly deadlineMs: number;
  /** How often the holder renews, and the others look. */
  readonly retryMs: number;
}

export interface ElectionOptions {
  /** Where the Lease is kept. */
  readonly cluster: Cluster;
  readonly lease: { readonly name: string; readonly namespace: string };
  /** Who this replica is. No two processes may share it, not even one after the other. */
  readonly identity: string;
  readonly timing?: ElectionTiming;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** A replica that stands for election until it is aborted. */
export interface Election extends Leadership {
  /** Gives the lead back, so that another replica need not wait for the lease to expire: to be called when aborted and all work has ended. */
  resign(): Promise<void>;
  readonly ended: Promise<void>;
}

/**
 * Elects a leader by a Lease. Nobody trusts another's clock: a holder counts as gone when its holderIdentity and renewTime
 * have stood still for the lease's duration since they were first seen here. Source: kubernetes.io/docs/concepts/architecture/leases.
 */
export function startElection(options: ElectionOptions, signal: AbortSignal): Election {
  const { cluster, lease: place, identity, timing = ELECTION_TIMING, clock, random, log } = options;
  const { leaseMs, deadlineMs, retryMs } = timing;
  const listeners = new Set<(isLeader: boolean) => void>();
  /** What was last seen of the lease, and since when it has stood so, by our own clock. */
  let seen: { readonly mark: string; readonly since: number } | undefined;
  let held: HeldLease | undefined;
  /** The renewal that was once found to be too old: it stays so, whatever the date says later. */
  let lapsed: HeldLease | undefined;
  /** The turn that we last tried to take: whose answer was lost, perhaps. */
  let attempted = 0;
  /** Whether the lease in the cluster may be another than the one we know. */
  let isOutdated = false;
  let fence = 0;
  /** The highest count of turns that was seen: no turn of ours shall look older, not even after somebody deleted the lease. */
  let turns = 0;
  let told = false;
  let complaint = "";

  function isLeader(): boolean {
    if (signal.aborted || held === undefined || held === lapsed || uptimeOf(clock) < held.leadsFrom) return false;
    // By either time: the date may be set back, and the other one may stand still while the machine sleeps.
    if (clock.now() - held.renewedOn < deadlineMs && uptimeOf(clock) - held.renewedAt < deadlineMs) return true;
    lapsed = held;
    return false;
  }

  function tell(): void {
    const now = isLeader();
    if (now === told) return;
    told = now;
    if (now) log.info({ lease: place.name, identity, fence }, "this replica is now the leader");
    else log.info({ lease: place.name, identity }, "this replica is no longer the leader");
    for (const listener of [...listeners]) listener(now);
  }

  /** One try to get or keep the lead. Rejects with ClusterError. */
  async function attempt(within: AbortSignal): Promise<void> {
    if (held !== undefined && !isOutdated) return take(held.lease, "ours", within);
    const lease = await cluster.get(Lease, place, within);
    isOutdated = false;
    const transitions = lease?.spec?.leaseTransitions ?? 0;
    const isOlder = transitions < turns;
    turns = Math.max(turns, transitions);
    if (lease?.spec?.holderIdentity === identity) {
      return take(lease, held !== undefined || transitions === attempted ? "ours" : "doubtful", within);
    }
    held = undefined;
    tell();
    const state = stateOf(lease);
    if (state !== "taken") await take(lease, isOlder ? "doubtful" : state, within);
  }

  /** Whether nobody holds the lease, or its holder has not renewed it for so long that it has stopped. */
  function stateOf(lease: Lease | undefined): LeaseState {
    const { holderIdentity = "", renewTime = "", leaseDurationSeconds = leaseMs / 1000 } = lease?.spec ?? {};
    const mark = lease === undefined ? "deleted" : `${holderIdentity} ${renewTime}`;
    const now = uptimeOf(clock);
    const isFirst = seen === undefined;
    if (seen === undefined || seen.mark !== mark) seen = { mark, since: now };
    const { since } = seen;
    const hasStoodFor = (ms: number) => (now - since >= ms ? "free" : "taken");
    if (lease !== undefined) return holderIdentity === "" ? "free" : hasStoodFor(leaseDurationSeconds * 1000);
    // The holder of a lease that somebody deleted may not have noticed yet.
    return isFirst ? "doubtful" : hasStoodFor(leaseMs);
  }

  async function take(before: Lease | undefined, state: Exclude<LeaseState, "taken"> | "ours", within: AbortSignal): Promise<void> {
    const [begun, begunOn] = [uptimeOf(clock), clock.now()];
    const isOurs = before?.spec?.holderIdentity === identity;
    const known = before?.spec?.leaseTransitions ?? 0;
    const transitions = isOurs && known >= turns ? known : turns + 1;
    attempted = transitions;
    const time = microTime(begunOn);
    const wanted: Lease = {
      apiVersion: Lease.apiVersion,
      kind: Lease.kind,
      metadata: { ...place, ...versionOf(before) },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseMs / 1000),
        acquireTime: isOurs ? (before.spec?.acquireTime ?? time) : time,
        renewTime: time,
        leaseTransitions: transitions,
      },
    };
    const written = before === undefined ? await cluster.create(wanted, within) : await cluster.update(wanted, within);
    // A lead that ran out meanwhile ends before the next one begins: somebody may have asked, and waits to hear of it.
    tell();
    const leadsFrom = state === "ours" ? (held?.leadsFrom ?? begun) : state === "free" ? begun : begun + deadlineMs;
    held = { lease: Lease.parse(written), leadsFrom, renewedAt: begun, renewedOn: begunOn };
    fence = transitions;
    turns = transitions;
    complaint = "";
    tell();
  }

  function failed(error: unknown): void {
    // Whether our write was carried out is unknown, or another one was: until that is read, the deadline says whether we lead.
    isOutdated = true;
    // Somebody was faster, so that turn has begun: a lease that says less when it is read is an older one.
    if (error instanceof ClusterError && OUTRUN.has(error.code)) turns = Math.max(turns, attempted);
    if (error instanceof ClusterError && TAKEN.has(error.code)) return;
    const message = messageOf(error);
    if (message !== complaint) log.warn({ lease: place.name }, `cannot ${told ? "renew" : "read"} the Lease: ${message}; retrying`);
    complaint = message;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const within = expiring(clock, Math.max(retryMs, deadlineMs / 2), signal);
      let pauseMs = retryMs * (0.8 + 0.4 * random());
      try {
        await attempt(within.signal);
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof ClusterError) && !within.signal.aborted) throw error;
        if (held !== undefined && error instanceof ClusterError && TAKEN.has(error.code)) pauseMs = REREAD_MS;
        failed(error);
      } finally {
        within.done();
      }
      // Rejects only when aborted. Jitter, so that replicas don't look in the same moment for ever.
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
    tell();
  }

  /** Tells of a lead that begins later than the lease is held, and of one that ran out while nothing answered. */
  async function watch(): Promise<void> {
    while (!signal.aborted) {
      const now = uptimeOf(clock);
      const left = held === undefined ? deadlineMs : (now < held.leadsFrom ? held.leadsFrom : held.renewedAt + deadlineMs) - now;
      await clock.sleep(Math.max(1, left), signal).catch(() => undefined);
      tell();
    }
  }

  return {
    get isLeader() {
      return isLeader();
    },
    get fence() {
      return fence;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async resign() {
      if (held === undefined) return;
      const { lease } = held;
      held = undefined;
      tell();
      const time = microTime(clock.now());
      const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: time };
      const given: Lease = { apiVersion: Lease.apiVersion, kind: Lease.kind, metadata: { ...place, ...versionOf(lease) }, spec };
      const within = expiring(clock, retryMs);
      try {
        await cluster.update(given, within.signal);
      } catch (error) {
        log.debug({ lease: place.name }, `cannot release the Lease, which will expire: ${messageOf(error)}`);
      } finally {
        within.done();
      }
    },
    ended: Promise.all([run(), watch()]).then(() => undefined),
  };
}

/** The lease as we last wrote it, while it is ours. Times are those of `uptimeOf`. */
interface HeldLease {
  readonly lease: Lease;
  /** Before, another replica may still lead. */
  readonly leadsFrom: number;
  /** When the write was begun, and the date of that. */
  readonly renewedAt: number;
  readonly renewedOn: number;
}

/**
 * `doubtful`: it may be taken, but another replica may not know yet that it has lost it. So is a lease that is not there when a replica
 * starts, as somebody may have deleted it, and one that says of an earlier turn, as etcd may have been restored.
 */
type LeaseState = "free" | "doubtful" | "taken";

// Others take over at most 8 + 2 s after a leader has died; 3 s lie between the moment in which a leader stops and the moment
// in which another may begin, so that what it has sent has arrived.
const ELECTION_TIMING: ElectionTiming = { leaseMs: 8_000, deadlineMs: 5_000, retryMs: 1_500 };

// Whether the lead is lost is read at once, but not in a loop without pause.
const REREAD_MS = 100;

/** What the API server says when another replica was faster. */
const OUTRUN: ReadonlySet<ClusterErrorCode> = new Set(["Conflict", "AlreadyExists"]);
/** What it says when the lease is not as it was read. */
const TAKEN: ReadonlySet<ClusterErrorCode> = new Set([...OUTRUN, "NotFound"]);

function versionOf(lease: Lease | undefined): { readonly resourceVersion?: string } {
  const resourceVersion = lease?.metadata.resourceVersion;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

/** Kubernetes refuses a MicroTime that has not six decimals. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/** A reason of its own: without one every answer makes a DOMException, with its stack. */
const ANSWERED = new Error("it has been answered");

/** A signal that is aborted after `ms`, or with `parent`; `done` ends the wait. */
function expiring(clock: Clock, ms: number, parent?: AbortSignal): { readonly signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const over = new AbortController();
  const forget = parent === undefined ? () => undefined : onAbort(parent, () => controller.abort(parent.reason));
  clock.sleep(ms, over.signal).then(
    () => controller.abort(new Error(`no answer within ${ms} ms`)),
    // Aborted: it is done.
    () => undefined,
  );
  return {
    signal: controller.signal,
    done() {
      forget();
      over.abort(ANSWERED);
    },
  };
}
