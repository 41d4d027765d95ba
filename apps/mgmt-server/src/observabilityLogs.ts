import { type Clock, messageOf } from "@isthmus/core";
import {
  type AccessLog,
  type AccessLogAnswer,
  type AccessLogQuery,
  envoyEntryOf,
  MAX_ANSWER_BYTES,
  MAX_ANSWERED,
} from "@isthmus/dataplane";
import type { Server } from "@isthmus/plane";
import { PageRefusal, type PostPage } from "@isthmus/process";
import { type AskAgent, askForAccessLogs } from "./accessLogs.ts";
import { proxySelectionIn } from "./proxySelection.ts";
import { type SeenEntries, seenEntries } from "./seenEntries.ts";

interface Found {
  readonly cluster: string;
  readonly log: AccessLog;
}

type Answer = { readonly cluster: string } & AccessLogAnswer;

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

    async function read(asked: AccessLogQuery): Promise<{ readonly answers: readonly Answer[]; readonly errors: readonly object[] }> {
      const { clusters } = selection;
      const all = await askForAccessLogs(store, ask, { query: asked, isAsked: (name) => clusters?.has(name) ?? true });
      const errors = all.flatMap((answer) => {
        const texts = "problem" in answer ? [answer.problem] : missingText(answer.otherReplicas);
        return texts.map((message) => errorOf(answer.cluster, message));
      });
      return { answers: all.flatMap((answer) => ("problem" in answer ? [] : [answer])), errors };
    }
    const selectedOf = (cluster: string, entries: readonly AccessLog[]): readonly Found[] =>
      entries.filter(({ proxy }) => selection.has(store.snapshot, cluster, proxy)).map((log) => ({ cluster, log }));

    if (!isOn(query.get("watch"))) {
      const { answers, errors } = await read({ limit: selection.isAll ? NEWEST : MAX_ANSWERED });
      const selected = answers.map((answer) => ({ ...answer, found: selectedOf(answer.cluster, answer.entries) }));
      const found = selected.flatMap((answer) => answer.found).sort(byTime);
      for (const one of found.slice(-NEWEST)) yield write(resultOf(one));
      // Agents answer with the newest entries, whichever are selected.
      const short = selected.filter((answer) => !answer.complete && answer.found.length < NEWEST);
      for (const error of [...errors, ...short.map(({ cluster }) => errorOf(cluster, OLDER_TEXT))]) yield write(error);
      return;
    }
    if (watches >= MOST_WATCHES) throw new PageRefusal(429, `${MOST_WATCHES} readers watch already: retry later, or ask without watch`);
    watches++;
    try {
      const begun = clock.now();
      const seen = seenEntries(MOST_SEEN);
      let idleMs = 0;
      while (!signal.aborted && clock.now() - begun < LONGEST_WATCH_MS) {
        const since = Math.max(begun, clock.now() - WINDOW_MS);
        const { answers, errors } = await read({ limit: MAX_ANSWERED, since });
        const taken = answers.map((answer) => ({ ...answer, ...seen.take(answer.cluster, answer.entries) }));
        const found = taken.flatMap(({ cluster, fresh }) => selectedOf(cluster, fresh)).sort(byTime);
        // What is no date is no news either.
        const news = found.filter(({ log }) => Date.parse(log.time) > since);
        for (const one of news) yield write(resultOf(one));
        const isIdle = news.length === 0;
        const gaps = taken.filter(hasGap).map(({ cluster }) => errorOf(cluster, GAP_TEXT));
        for (const error of [...errors, ...gaps]) {
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

/** Whether entries came between this answer and the one before that neither has: it is full, and they have none in common. */
function hasGap({ complete, entries, fresh, bytes }: Answer & ReturnType<SeenEntries["take"]>): boolean {
  const isFull = entries.length >= MAX_ANSWERED || bytes > MAX_ANSWER_BYTES / 2;
  return !complete && isFull && fresh.length === entries.length;
}

function errorOf(clusterName: string, message: string): object {
  return { error: { clusterName, message } };
}

/** What is said of replicas of an agent that did not answer. */
function missingText(replicas: readonly string[] = []): readonly string[] {
  return replicas.length === 0
    ? []
    : [`entries of these replicas of its agent, which did not answer, are not among them: ${replicas.join(", ")}`];
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
// Of each cluster, twice what an answer has; an entry is answered again as long as it is among the newest 500.
const MOST_SEEN = 2 * MAX_ANSWERED;
const OLDER_TEXT = "its agent answered with its newest entries alone: older ones that are selected may be missing";
const GAP_TEXT = "there were more entries than its agent answers with: some that are selected may be missing";
const MOST_PROBLEMS = 1_000;
