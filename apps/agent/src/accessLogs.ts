import {
  type AccessLogAnswer,
  type AccessLogSink,
  accessLogQueryIn,
  answeredAtMost,
  MAX_ANSWER_BYTES,
  mergedAnswer,
  parseAccessLogAnswer,
  parseAccessLogQuery,
} from "@isthmus/dataplane";
import { ACCESS_LOGS_TOPIC } from "@isthmus/plane";
import { listPage, type Page } from "@isthmus/process";
import type { ReplicaClient } from "./replicas.ts";

/** Answers a query that came as JSON with what this replica has. Throws for one that is no query, and before the sink was started. */
export function answerOwnAccessLogs(sink: AccessLogSink | undefined, body: Uint8Array): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(ownAnswer(sink, body)));
}

/** Answers with what all replicas have, and names those that do not answer. Rejects as `answerOwnAccessLogs` throws. */
export async function answerAccessLogs(sink: AccessLogSink | undefined, body: Uint8Array, replicas: ReplicaClient): Promise<Uint8Array> {
  const own = ownAnswer(sink, body);
  // With what stands around the entries, as the reader says.
  const asked = { topic: ACCESS_LOGS_TOPIC, body, mostBytes: MAX_ANSWER_BYTES + 1024, read: parseAccessLogAnswer };
  const { answers, missing } = await replicas.ask(asked);
  const limit = answeredAtMost(parseAccessLogQuery(new TextDecoder().decode(body)));
  return new TextEncoder().encode(JSON.stringify(mergedAnswer([own, ...answers], limit, missing)));
}

function ownAnswer(sink: AccessLogSink | undefined, body: Uint8Array): AccessLogAnswer {
  if (sink === undefined) throw new Error("this agent takes no access logs yet");
  return sink.query(parseAccessLogQuery(new TextDecoder().decode(body)));
}

/** What this replica knows, for those who read its admin port: one item for the cluster. */
export function accessLogPage(sink: () => AccessLogSink | undefined, cluster: string): Page {
  return (query) => {
    const answer = sink()?.query(accessLogQueryIn(query));
    return listPage(() => (answer === undefined ? [] : [{ cluster, ...answer }]))(query);
  };
}
