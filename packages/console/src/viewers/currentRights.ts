import { type Clock, type Log, messageOf, uptimeOf } from "@isthmus/core";
import { compareRights, type Place, type ViewerRights, type ViewerRightsOptions, viewerRights } from "./rights.ts";

/** What one user may see now: asked for again every minute, and nothing any more once it could not be for five. */
export interface CurrentRights {
  /** The rights as they were confirmed last. Rejects while nothing is known yet and nothing can be asked. */
  confirmed(): Promise<ViewerRights>;
  /** Asks, with these rights, what is not known yet about places. Rejects with a text for users when it cannot be asked. */
  learn(rights: ViewerRights, places: Iterable<Place>, signal: AbortSignal): Promise<void>;
  /** Counted up when the rights are others than before. */
  readonly changes: number;
  /** Counted up when the user may see less than before. */
  readonly losses: number;
  /** Whether they could not be confirmed for so long that the user sees nothing. */
  readonly isLost: boolean;
}

export interface CurrentRightsOptions extends ViewerRightsOptions {
  /** All places of what is known now. */
  readonly places: (signal: AbortSignal) => Promise<Iterable<Place>>;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the rights are asked for again, in milliseconds. Default: a minute. */
  readonly refreshMs?: number;
}

/** Knows nothing yet. What is asked for all who wait for it ends with `signal`. */
export function currentRights(options: CurrentRightsOptions, signal: AbortSignal): CurrentRights {
  const { user, places, clock, log, refreshMs = REFRESH_MS } = options;
  let rights: ViewerRights | undefined;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let [changes, losses] = [0, 0];
  let [isLost, isFailing] = [false, false];
  let running: Promise<void> | undefined;

  // The API server is not asked three times a second while it does not answer.
  const reviews: ViewerRightsOptions["reviews"] = {
    may: async (...question) => {
      if (uptimeOf(clock) - failedAt < RETRY_MS) throw new NotAsked(UNKNOWN);
      return options.reviews.may(...question);
    },
  };

  async function asked(work: () => Promise<void>, until: AbortSignal): Promise<void> {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (until.aborted || error instanceof NotAsked) throw error;
      failedAt = uptimeOf(clock);
      const text = `cannot ask the Kubernetes API what a user of the console may list: ${messageOf(error)}`;
      if (!isFailing) log.warn({ user: user.username }, text);
      isFailing = true;
      // Addresses in it are not for users.
      throw new Error(UNKNOWN, { cause: error });
    }
  }

  async function refresh(): Promise<void> {
    const next = viewerRights({ ...options, reviews });
    await asked(async () => next.learn(await places(signal), signal), signal);
    confirmedAt = uptimeOf(clock);
    const { isOther, isLess } = rights === undefined || isLost ? { isOther: true, isLess: false } : compareRights(rights, next);
    if (isOther) changes++;
    if (isLess) losses++;
    isLost = false;
    rights = next;
  }

  /** One at a time for all who wait for it. */
  function refreshed(): Promise<void> {
    running ??= refresh().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    async confirmed() {
      if (uptimeOf(clock) - confirmedAt < refreshMs && rights !== undefined) return rights;
      try {
        await refreshed();
      } catch (error) {
        if (rights === undefined) throw error;
        if (!isLost && uptimeOf(clock) - confirmedAt >= refreshMs + UNCONFIRMED_MS) {
          isLost = true;
          changes++;
          losses++;
          rights = viewerRights({ ...options, reviews });
        }
      }
      return rights as ViewerRights;
    },
    learn: (known, all, until) => asked(() => known.learn(all, until), until),
    get changes() {
      return changes;
    },
    get losses() {
      return losses;
    },
    get isLost() {
      return isLost;
    },
  };
}

class NotAsked extends Error {}

const REFRESH_MS = 60_000;
const UNCONFIRMED_MS = 5 * 60_000;
const RETRY_MS = 5_000;
const UNKNOWN = "the Kubernetes API cannot be asked what you may list";
