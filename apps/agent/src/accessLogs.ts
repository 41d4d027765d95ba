import { type AccessLogSink, accessLogQueryIn, parseAccessLogQuery } from "@isthmus/dataplane";
import { listPage, type Page } from "@isthmus/process";

/** Answers a query that came as JSON. Throws for one that is none, and before the sink was started. */
export function answerAccessLogs(sink: AccessLogSink | undefined, body: Uint8Array): Uint8Array {
  if (sink === undefined) throw new Error("this agent takes no access logs yet");
  return new TextEncoder().encode(JSON.stringify(sink.query(parseAccessLogQuery(new TextDecoder().decode(body)))));
}

/** What this replica knows, for those who read its admin port: one item for the cluster. */
export function accessLogPage(sink: () => AccessLogSink | undefined, cluster: string): Page {
  return (query) => {
    const answer = sink()?.query(accessLogQueryIn(query));
    return listPage(() => (answer === undefined ? [] : [{ cluster, ...answer }]))(query);
  };
}
