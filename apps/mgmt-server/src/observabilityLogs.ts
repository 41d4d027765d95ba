import { type Clock, messageOf } from "@isthmus/core";
import { type AccessLog, type AccessLogQuery, envoyEntryOf, MAX_ANSWERED } from "@isthmus/dataplane";
import type { Server } from "@isthmus/plane";
import { PageRefusal, type PostPage } from "@isthmus/process";
import { type AskAgent, askForAccessLogs } from "./accessLogs.ts";
import { proxySelectionIn } from "./proxySelection.ts";

interface Found {
  readonly cluster: string;
  readonly log: AccessLog;
}

/**
 * POST `/v0/observability/logs[?watch=1][&pretty]`, as in Gloo Mesh Enterprise 1.x: one JSON object for each entry, `{"result": {"workloadRef", "httpAccessLog"}}`,
 * and `{"error": …}` for what has no answer. Without `watch` the newest ten; with it those that come, for an hour at most, eight readers at a time.
 */
export function observabilityLogsPage({ store }: Pick<Server, "store">, ask: AskAgent, clock: Clock): PostPage {
  let watches = 0;

  return async function* (query, content, signal) {
    const selection = proxySelectionIn(content);
    const write = (value: object) => `${JSON.stringify(value, undefined, query.has("pretty") ? 2 : undefined)}\n`;
    const problems = new Set<string>();

    async function read(asked: AccessLogQuery): Promise<{ readonly found: readonly Found[]; readonly errors: readonly object[] }> {
      const { clusters } = selection;
      const answers = await askForAccessLogs(store, ask, { query: asked, isAsked: (name) => clusters?.has(name) ?? true });
      const found = answers.flatMap((answer) =>
        "problem" in answer ? [] : answer.entries.map((log) => ({ cluster: answer.cluster, log })),
      );
      const errors = answers.flatMap((answer) => {
        const texts = "problem" in answer ? [answer.problem] : notAskedText(answer.otherReplicas);
        return texts.map((message) => ({ error: { clusterName: answer.cluster, message } }));
      });
      return { found: found.filter(({ cluster, log }) => selection.has(store.snapshot, cluster, log.proxy)).sort(byTime), errors };
    }

    if (!isOn(query.get("watch"))) {
      const { found, errors } = await read({ limit: selection.isAll ? NEWEST : MAX_ANSWERED });
      for (const one of found.slice(-NEWEST)) yield write(resultOf(one));
      for (const error of errors) yield write(error);
      return;
    }
    if (watches >= MOST_WATCHES) throw new PageRefusal(429, `${MOST_WATCHES} readers watch already: retry later, or ask without watch`);
    watches++;
    try {
      const begun = clock.now();
      const seen = new Map<string, number>();
      let idleMs = 0;
      while (!signal.aborted && clock.now() - begun < LONGEST_WATCH_MS) {
        const since = Math.max(begun, clock.now() - WINDOW_MS);
        const { found, errors } = await read({ limit: MAX_ANSWERED, since });
        for (const [key, at] of seen) if (at <= since || seen.size > MOST_SEEN) seen.delete(key);
        let isIdle = true;
        for (const one of found) {
          const key = JSON.stringify(one);
          // What is no date is no news either.
          if (seen.has(key) || !(Date.parse(one.log.time) > since)) continue;
          seen.set(key, Date.parse(one.log.time));
          isIdle = false;
          yield write(resultOf(one));
        }
        for (const error of errors) {
          const text = write(error);
          if (problems.has(text)) continue;
          if (problems.size >= MOST_PROBLEMS) problems.clear();
          problems.add(text);
          yield text;
        }
        idleMs = isIdle ? idleMs + POLL_MS : 0;
        // A connection on which nothing moves is closed.
        if (idleMs % QUIET_MS === 0 && idleMs > 0) yield "\n";
        await clock.sleep(POLL_MS, signal).catch((error: unknown) => {
          if (!signal.aborted) throw new Error(messageOf(error));
        });
      }
    } finally {
      watches--;
    }
  };
}

/** What is said of replicas of an agent that were not asked. */
function notAskedText(replicas: readonly string[] = []): readonly string[] {
  return replicas.length === 0 ? [] : [`entries of these replicas of its agent are not among them: ${replicas.join(", ")}`];
}

function resultOf({ cluster, log }: Found): object {
  const { workloadName, namespace } = log.proxy;
  const workloadRef = { name: workloadName, namespace, clusterName: cluster };
  return { result: { workloadRef, ...envoyEntryOf(log), ...(log.verified ? {} : { unverified: true }) } };
}

function byTime(a: Found, b: Found): number {
  return a.log.time < b.log.time ? -1 : a.log.time > b.log.time ? 1 : 0;
}

function isOn(value: string | null): boolean {
  return value !== null && value !== "0" && value !== "false";
}

const NEWEST = 10;
const MOST_WATCHES = 8;
const LONGEST_WATCH_MS = 60 * 60_000;
// An agent answers with 500 entries at most: with half of what somebody may watch in a second of each agent.
const POLL_MS = 1_000;
// Proxies send what they have logged once a second, and a request when it has ended.
const WINDOW_MS = 60_000;
const QUIET_MS = 20_000;
const MOST_SEEN = 50_000;
const MOST_PROBLEMS = 1_000;
