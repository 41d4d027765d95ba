import { createHash, randomBytes } from "node:crypto";
import { abortedAfter, type Clock, type Log, messageOf, semaphore, uptimeOf } from "@isthmus/core";
import type { AccessReviews, KubernetesUser, TokenQuery } from "@isthmus/ports";
import { identityOf } from "./identity.ts";

/** Somebody who has logged in. */
export interface Session {
  readonly user: KubernetesUser;
  /** Aborted when the session ends: what follows from it ends, too. */
  readonly signal: AbortSignal;
  /** It is in use until the returned function is called, as while a page is open. */
  hold(): () => void;
}

/** Who has logged in, in the memory of this process: after a restart, everybody logs in again. */
export interface Sessions {
  /** Begins a session; returns what its bearer must show. Undefined: there are too many. */
  open(user: KubernetesUser, token: TokenQuery): string | undefined;
  /** The session whose secret this is. It counts as used. */
  find(secret: string): Session | undefined;
  end(secret: string): void;
  readonly size: number;
  readonly ended: Promise<void>;
}

export interface SessionsOptions {
  readonly reviews: Pick<AccessReviews, "whoBears">;
  readonly clock: Clock;
  readonly log: Log;
  /** How often each token is looked at again, in milliseconds. Default: a minute. */
  readonly reviewMs?: number;
  /** Sessions at a time. Default: 1,000. */
  readonly most?: number;
}

interface Kept extends Session {
  readonly token: TokenQuery;
  readonly stop: AbortController;
  readonly begunAt: number;
  usedAt: number;
  confirmedAt: number;
  holders: number;
}

/** Sessions that end when their token no longer counts, after an hour without use, and after twelve hours. */
export function startSessions(options: SessionsOptions, signal: AbortSignal): Sessions {
  const { reviews, clock, log, reviewMs = REVIEW_MS, most = MOST_SESSIONS } = options;
  /** By the digest of the secret: keys of this map open nothing, and none is found by comparing characters. */
  const sessions = new Map<string, Kept>();

  function end(key: string, why: string): void {
    const session = sessions.get(key);
    if (session === undefined) return;
    sessions.delete(key);
    session.stop.abort(new Error(why));
    log.info({ user: session.user.username }, `a session of the console has ended: ${why}`);
  }

  function overdue({ begunAt, usedAt, confirmedAt, holders }: Kept): string | undefined {
    const now = uptimeOf(clock);
    if (now - begunAt > LONGEST_MS) return "it is twelve hours old";
    if (holders === 0 && now - usedAt > IDLE_MS) return "it was not used for an hour";
    // What cannot be confirmed for so long does not count any more.
    return now - confirmedAt > reviewMs + UNCONFIRMED_MS
      ? "the Kubernetes API could not be asked about its token for five minutes"
      : undefined;
  }

  async function review(key: string, session: Kept): Promise<void> {
    try {
      const bearer = await reviews.whoBears(session.token, abortedAfter(ASK_MS, session.signal));
      if ("refused" in bearer) end(key, bearer.refused);
      // Groups too decide what a user may.
      else if (identityOf(bearer.user) !== identityOf(session.user)) end(key, "its token says something else of its user now");
      else session.confirmedAt = uptimeOf(clock);
    } catch (error) {
      if (!session.signal.aborted) log.warn({}, `cannot ask the Kubernetes API about a session of the console: ${messageOf(error)}`);
    }
  }

  async function reviewAll(): Promise<void> {
    while (!signal.aborted) {
      try {
        await clock.sleep(reviewMs, signal);
      } catch {
        break;
      }
      const reviewing = semaphore(AT_A_TIME);
      const reviews = [...sessions].map(([key, session]) => reviewing.run(() => review(key, session)));
      await Promise.all(reviews);
      // After they were looked at: what was only not looked at in time is not over.
      for (const [key, session] of [...sessions]) {
        const why = overdue(session);
        if (why !== undefined) end(key, why);
      }
    }
    for (const key of [...sessions.keys()]) end(key, "the console is shutting down");
  }

  return {
    open(user, token) {
      const own = [...sessions].filter(([, session]) => session.user.username === user.username);
      // One user cannot keep others out.
      if (own.length >= MOST_OF_USER && own[0] !== undefined) end(own[0][0], "the same user has many newer ones");
      if (sessions.size >= most) return undefined;
      const secret = randomBytes(32).toString("base64url");
      const stop = new AbortController();
      const now = uptimeOf(clock);
      const session: Kept = {
        ...{ user, token, stop, signal: stop.signal, begunAt: now, usedAt: now, confirmedAt: now, holders: 0 },
        hold() {
          session.holders++;
          return () => {
            session.holders--;
            session.usedAt = uptimeOf(clock);
          };
        },
      };
      sessions.set(digestOf(secret), session);
      return secret;
    },
    find(secret) {
      const key = digestOf(secret);
      const session = sessions.get(key);
      if (session === undefined) return undefined;
      const why = overdue(session);
      if (why !== undefined) {
        end(key, why);
        return undefined;
      }
      session.usedAt = uptimeOf(clock);
      return session;
    },
    end: (secret) => end(digestOf(secret), "the user has logged out"),
    get size() {
      return sessions.size;
    },
    ended: reviewAll(),
  };
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64");
}

const REVIEW_MS = 60_000;
const UNCONFIRMED_MS = 5 * 60_000;
const IDLE_MS = 3_600_000;
const LONGEST_MS = 12 * 3_600_000;
const ASK_MS = 5_000;
const AT_A_TIME = 16;
const MOST_SESSIONS = 1_000;
const MOST_OF_USER = 20;
