import { Pod } from "@isthmus/api";
import type { Snapshot } from "@isthmus/core";
import { type AccessLogSink, accessLogQueryIn, MAX_REPLICAS, parseAccessLogQuery } from "@isthmus/dataplane";
import { listPage, type Page } from "@isthmus/process";

/**
 * Answers a query that came as JSON. `others`: pods of the other replicas, which have entries that this one has not. Throws for one that is
 * no query, and before the sink was started.
 */
export function answerAccessLogs(sink: AccessLogSink | undefined, body: Uint8Array, others: readonly string[]): Uint8Array {
  if (sink === undefined) throw new Error("this agent takes no access logs yet");
  const answer = sink.query(parseAccessLogQuery(new TextDecoder().decode(body)));
  const otherReplicas = others.slice(0, MAX_REPLICAS);
  return new TextEncoder().encode(JSON.stringify(otherReplicas.length === 0 ? answer : { ...answer, otherReplicas }));
}

/** The pods of the other replicas of an agent, by the label `app` of its own pod; none where the own pod is not known. */
export function otherReplicas(
  cluster: Snapshot,
  own: { readonly name: string; readonly namespace: string; readonly clusterName: string },
): readonly string[] {
  const pods = cluster.of(Pod);
  const app = pods.get(own)?.metadata.labels?.["app"];
  if (app === undefined) return [];
  return [...pods].flatMap(({ metadata: { name, namespace, labels } }) =>
    name !== own.name && namespace === own.namespace && labels?.["app"] === app ? [name] : [],
  );
}

/** What this replica knows, for those who read its admin port: one item for the cluster. */
export function accessLogPage(sink: () => AccessLogSink | undefined, cluster: string): Page {
  return (query) => {
    const answer = sink()?.query(accessLogQueryIn(query));
    return listPage(() => (answer === undefined ? [] : [{ cluster, ...answer }]))(query);
  };
}
