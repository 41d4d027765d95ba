import { abortedAfter, messageOf } from "@isthmus/core";
import { type AccessLogAnswer, type AccessLogQuery, accessLogQueryIn, parseAccessLogAnswer } from "@isthmus/dataplane";
import { ACCESS_LOGS_TOPIC, type Server } from "@isthmus/plane";
import { type AsyncPage, listPage } from "@isthmus/process";

/** Asks an agent that is connected to this server. Rejects when it has no answer. */
export type AskAgent = (
  clusterName: string,
  query: { readonly topic: string; readonly body: Uint8Array },
  signal: AbortSignal,
) => Promise<Uint8Array>;

/**
 * `?cluster=NAME&from=…&to=…&status=…`: the newest access log entries of the agents that are connected here, one item for each cluster:
 * its entries, or the problem with it. Agents of other replicas are for those to ask.
 */
export function fleetAccessLogPage({ store }: Pick<Server, "store">, ask: AskAgent): AsyncPage {
  return async (query) => {
    const only = query.get("cluster");
    const asked = { query: accessLogQueryIn(query), isAsked: (name: string) => only === null || name === only };
    const items = await askForAccessLogs(store, ask, asked);
    return listPage(() => items)(query);
  };
}

/** What the agent of a cluster answers, or why there is no answer. */
type ClusterAnswer = { readonly cluster: string } & (AccessLogAnswer | { readonly problem: string });

/** Asks the agents of those clusters that are connected here; each has an item. */
export async function askForAccessLogs(
  store: Pick<Server["store"], "clusters">,
  ask: AskAgent,
  { query, isAsked }: { readonly query: AccessLogQuery; readonly isAsked: (clusterName: string) => boolean },
): Promise<readonly ClusterAnswer[]> {
  const body = new TextEncoder().encode(JSON.stringify(query));
  const names = [...store.clusters].flatMap(([name, { isServed, connected }]) => (isServed && connected ? [name] : []));
  const wanted = names.filter(isAsked);
  const items: ClusterAnswer[] = [];
  // Some at a time, and so many clusters at most: an answer may have a mebibyte, and is in memory as a whole.
  for (let i = 0; i < Math.min(wanted.length, MOST_CLUSTERS); i += AT_ONCE) {
    const some = wanted.slice(i, Math.min(i + AT_ONCE, MOST_CLUSTERS));
    items.push(...(await Promise.all(some.map((cluster) => answerOf(ask, cluster, body)))));
  }
  for (const cluster of wanted.slice(MOST_CLUSTERS))
    items.push({ cluster, problem: `only ${MOST_CLUSTERS} clusters are asked at a time: name one` });
  return items;
}

async function answerOf(ask: AskAgent, cluster: string, body: Uint8Array): Promise<ClusterAnswer> {
  try {
    const bytes = await ask(cluster, { topic: ACCESS_LOGS_TOPIC, body }, abortedAfter(ANSWER_MS));
    // The cluster is the one that was asked, whatever its agent says.
    return { ...parseAccessLogAnswer(bytes), cluster };
  } catch (error) {
    return { cluster, problem: messageOf(error) };
  }
}

const AT_ONCE = 20;
const MOST_CLUSTERS = 100;
const ANSWER_MS = 10_000;
