import { type AccessLogAnswer, startAccessLogSink } from "@isthmus/dataplane";
import { systemClock } from "@isthmus/plane";

// The sink of an agent alone, where the pods of a cluster reach it: prints what came in, one answer to a line, whenever there is more.
const [host = "", port = ""] = process.argv.slice(2);
const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());

const silent = () => undefined;
const log = { info: silent, warn: silent, error: silent, debug: silent };
const sink = startAccessLogSink({ host, port: Number(port), podsAt: () => [], clock: systemClock, log }, stop.signal);
await sink.listening;
let last: AccessLogAnswer | undefined;
const printing = setInterval(() => {
  const answer = sink.query({});
  if (answer.received !== (last?.received ?? -1)) console.log(JSON.stringify(answer));
  last = answer;
}, 50);
await sink.ended;
clearInterval(printing);
