import { type AccessLogSink, parseAccessLogQuery } from "@isthmus/dataplane";

/** Answers a query that came as JSON. Throws for one that is none, and before the sink was started. */
export function answerAccessLogs(sink: AccessLogSink | undefined, body: Uint8Array): Uint8Array {
  if (sink === undefined) throw new Error("this agent takes no access logs yet");
  return new TextEncoder().encode(JSON.stringify(sink.query(parseAccessLogQuery(new TextDecoder().decode(body)))));
}
