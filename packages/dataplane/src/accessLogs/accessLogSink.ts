import { create, toBinary } from "@bufbuild/protobuf";
import { type Server, type sendUnaryData, status } from "@grpc/grpc-js";
import { type Clock, type Log, type Metric, messageOf, uptimeOf } from "@isthmus/core";
import { AccessLogService, StreamAccessLogsResponseSchema } from "../gen/envoy/service/accesslog/v3/als_pb.ts";
import { openWorkloadPort, type WorkloadPeers, type WorkloadPortLimits, type WorkloadService } from "../workloadPort.ts";
import { type AccessLog, accessLogOf, type PodsAt } from "./accessLog.ts";
import { answeredBytes, MAX_ANSWER_BYTES } from "./accessLogAnswer.ts";
import { type AccessLogAnswer, type AccessLogQuery, answeredAtMost, endsMatch, statusMatches } from "./accessLogQuery.ts";
import { type AccessLogCall, accessLogStream, podAddressOf, StreamRefused } from "./accessLogStream.ts";
import { type DropReason, ENTRY_LIMITS, type EntryLimits, entryStore } from "./entryStore.ts";

export interface AccessLogSinkOptions {
  /** Address, or a name of one. */
  readonly host: string;
  /** 9977 by custom; 0 takes any that is free. */
  readonly port: number;
  /** The pods to which the cluster gave an address: several where they share that of their node; none that are known. */
  readonly podsAt: PodsAt;
  /** What else is served on the port. Default: nothing. */
  readonly besides?: readonly WorkloadService[];
  /** Default: `ENTRY_LIMITS`. */
  readonly limits?: EntryLimits;
  /** Default: `WORKLOAD_PORT_LIMITS`. */
  readonly portLimits?: WorkloadPortLimits;
  /** Default: `STREAM_LIMITS`. */
  readonly mostStreams?: StreamLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** How many streams may be open at a time. */
export interface StreamLimits {
  readonly all: number;
  /** Of one address. */
  readonly ofAddress: number;
}

/** Takes access logs of proxies and keeps the newest. */
export interface AccessLogSink {
  /** The newest entries that a query asks for. */
  query(query: AccessLogQuery): AccessLogAnswer;
  metrics(): readonly Metric[];
  /** That it listens on; rejects when it ended before it did. */
  readonly listening: Promise<number>;
  /** Resolves when it was aborted and has closed its port. */
  readonly ended: Promise<void>;
}

/**
 * Serves `envoy.service.accesslog.v3.AccessLogService` in plaintext, as Envoys call it, until `signal` is aborted. A port that cannot be
 * had is tried again every 10 s: an agent without access logs is still an agent. The one who is connected, and whatever is sent, the memory
 * stays within the limits: a stream that sends nonsense is closed, and no other one.
 */
export function startAccessLogSink(options: AccessLogSinkOptions, signal: AbortSignal): AccessLogSink {
  const { podsAt, limits = ENTRY_LIMITS, mostStreams = STREAM_LIMITS, clock, log } = options;
  const dropped = new Map<DropReason | "Size", number>();
  const drop = (reason: DropReason | "Size", entries = 1) => dropped.set(reason, (dropped.get(reason) ?? 0) + entries);
  const store = entryStore(limits, drop);
  let received = { verified: 0, unverified: 0 };
  let refused = 0;
  let streams = 0;
  /** Open streams by the address that they come from. */
  const streamsFrom = new Map<string, number>();

  let introduced: (peer: string) => void = () => undefined;

  function serve(call: AccessLogCall, done: sendUnaryData<Uint8Array>): void {
    const address = podAddressOf(call.getPeer());
    const count = (by: 1 | -1): number => {
      streams += by;
      const there = (streamsFrom.get(address) ?? 0) + by;
      if (there === 0) streamsFrom.delete(address);
      else streamsFrom.set(address, there);
      return there;
    };
    let isOpen = true;
    const close = (answer: Parameters<typeof done>): void => {
      if (!isOpen) return;
      isOpen = false;
      count(-1);
      done(...answer);
    };
    const fromThere = count(1);
    if (streams > mostStreams.all || fromThere > mostStreams.ofAddress) {
      refused += 1;
      const which = fromThere > mostStreams.ofAddress ? `${mostStreams.ofAddress} from ${address}` : `${mostStreams.all}`;
      close([{ code: status.RESOURCE_EXHAUSTED, details: `this agent has as many streams of access logs as it takes: ${which}` }]);
      return;
    }
    const peer = call.getPeer();
    const take = accessLogStream(address, {
      introduced: () => introduced(peer),
      entriesPerProxy: limits.entriesPerProxy,
      podsAt,
      keep(entry) {
        received = entry.verified ? { ...received, verified: received.verified + 1 } : { ...received, unverified: received.unverified + 1 };
        store.add(entry);
      },
      dropped: drop,
      now: () => uptimeOf(clock),
    });
    call.on("data", (message: Uint8Array) => {
      if (!isOpen) return;
      try {
        take(message);
      } catch (error) {
        refused += 1;
        const isTheirs = error instanceof StreamRefused;
        if (!isTheirs) log.error({}, `access log stream failed: ${messageOf(error)}`);
        close([{ code: isTheirs ? status.INVALID_ARGUMENT : status.INTERNAL, details: isTheirs ? error.message : "internal error" }]);
      }
    });
    call.on("end", () => close([null, EMPTY_RESPONSE]));
    call.on("error", () => close([{ code: status.CANCELLED, details: "the stream ended" }]));
    call.on("cancelled", () => close([{ code: status.CANCELLED, details: "the stream was cancelled" }]));
  }

  function query(asked: AccessLogQuery): AccessLogAnswer {
    const limit = answeredAtMost(asked);
    const entries: AccessLog[] = [];
    let decoded = 0;
    let bytes = 0;
    let complete = true;
    for (const entry of store.newest()) {
      if (!statusMatches(asked.status, entry.status)) continue;
      if (entries.length >= limit || decoded >= MAX_DECODED) {
        complete = false;
        break;
      }
      decoded += 1;
      const found = accessLogOf(entry, podsAt);
      if (found === undefined || !endsMatch(asked, found)) continue;
      bytes += answeredBytes(found);
      if (bytes > MAX_ANSWER_BYTES) {
        complete = false;
        break;
      }
      entries.push(found);
    }
    // Each stream is in order of its requests' ends, and the streams come as they come.
    entries.sort((left, right) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
    const gone = [...dropped.values()].reduce((sum, count) => sum + count, 0);
    return { entries, complete, received: received.verified + received.unverified, dropped: gone };
  }

  const service = (server: Server, peers: WorkloadPeers) => {
    introduced = peers.introduced;
    server.addService({ [METHOD.name]: METHOD_DEFINITION }, { [METHOD.name]: serve });
  };
  const port = openWorkloadPort({ ...options, services: [service, ...(options.besides ?? [])], purpose: "access logs" }, signal);
  return {
    query,
    listening: port.listening,
    ended: port.ended,
    metrics: () => [
      ...port.metrics(),
      { name: "gloo_mesh_access_log_entries_total", labels: { verified: "true" }, value: received.verified },
      { name: "gloo_mesh_access_log_entries_total", labels: { verified: "false" }, value: received.unverified },
      ...[...dropped].map(([reason, value]) => ({
        name: "gloo_mesh_access_log_entries_dropped_total" as const,
        labels: { reason },
        value,
      })),
      { name: "gloo_mesh_access_log_streams_refused_total", labels: {}, value: refused },
      { name: "gloo_mesh_access_log_streams", labels: {}, value: streams },
      { name: "gloo_mesh_access_log_bytes", labels: {}, value: store.bytes },
    ],
  };
}

const METHOD = AccessLogService.method.streamAccessLogs;

// Messages are handed over as they are: what nobody asks for is never decoded.
const METHOD_DEFINITION = {
  path: `/${AccessLogService.typeName}/${METHOD.name}`,
  requestStream: true,
  responseStream: false,
  requestSerialize: (message: Uint8Array) => Buffer.from(message),
  requestDeserialize: (message: Uint8Array) => message,
  responseSerialize: (message: Uint8Array) => Buffer.from(message),
  responseDeserialize: (message: Uint8Array) => message,
};

const EMPTY_RESPONSE = toBinary(StreamAccessLogsResponseSchema, create(StreamAccessLogsResponseSchema));

// Two for each proxy that entries are kept of. A proxy has one for each record and worker thread, and the pods of a node with hostNetwork
// have one address; so nobody takes all of them alone.
const STREAM_LIMITS: StreamLimits = { all: 10_000, ofAddress: 1_000 };
// What is looked at for one query: some 100 ms of a processor.
const MAX_DECODED = 5_000;
