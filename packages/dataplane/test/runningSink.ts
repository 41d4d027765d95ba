import { Client, type ClientWritableStream, credentials } from "@grpc/grpc-js";
import type { Clock, Log, Metric } from "@isthmus/core";
import type { StreamLimits } from "../src/accessLogs/accessLogSink.ts";
import type { EntryLimits } from "../src/accessLogs/entryStore.ts";
import { type AccessLogSink, type PodsAt, startAccessLogSink } from "../src/index.ts";
import type { WorkloadPortLimits } from "../src/workloadPort.ts";
import { asBuffer, silent, wallClock } from "./wallClock.ts";

/** A sink on a port of its own, and a client of it. */
export interface RunningSink {
  readonly sink: AccessLogSink;
  readonly port: number;
  /** Opens a stream; `ended` gives the code and details with which it ended. */
  stream(): { readonly call: ClientWritableStream<Uint8Array>; readonly ended: Promise<string> };
  stop(): Promise<void>;
}

/** Starts a sink on loopback. */
export async function startSink(
  podsAt: PodsAt = () => [],
  {
    limits,
    mostStreams,
    portLimits,
    clock = wallClock,
    log = silent,
    port = 0,
  }: { limits?: EntryLimits; mostStreams?: StreamLimits; portLimits?: WorkloadPortLimits; clock?: Clock; log?: Log; port?: number } = {},
): Promise<RunningSink> {
  const stopped = new AbortController();
  const sink = startAccessLogSink(
    {
      host: "127.0.0.1",
      port,
      podsAt,
      ...(limits === undefined ? {} : { limits }),
      ...(mostStreams === undefined ? {} : { mostStreams }),
      ...(portLimits === undefined ? {} : { portLimits }),
      clock,
      log,
    },
    stopped.signal,
  );
  const bound = await sink.listening;
  const client = new Client(`127.0.0.1:${bound}`, credentials.createInsecure());
  return {
    sink,
    port: bound,
    stream() {
      let call: ClientWritableStream<Uint8Array> | undefined;
      const ended = new Promise<string>((resolve) => {
        call = client.makeClientStreamRequest(
          PATH,
          asBuffer,
          (bytes) => bytes,
          (error) => resolve(error === null ? "OK" : `${error.code} ${error.details}`),
        );
      });
      if (call === undefined) throw new Error("the client made no call");
      call.on("error", () => undefined);
      return { call, ended };
    },
    async stop() {
      client.close();
      stopped.abort(new Error("the test is over"));
      await sink.ended;
    },
  };
}

/** The value of a metric; 0 where it is not there yet. */
export function metricValue(metrics: readonly Metric[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = JSON.stringify(labels);
  return metrics.find((metric) => metric.name === name && JSON.stringify(metric.labels) === wanted)?.value ?? 0;
}

const PATH = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs";
