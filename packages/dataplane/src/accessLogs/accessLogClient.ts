import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientWritableStream, credentials } from "@grpc/grpc-js";
import { RequestMethod } from "../gen/envoy/config/core/v3/base_pb.ts";
import type { HTTPAccessLogEntrySchema, ResponseFlags } from "../gen/envoy/data/accesslog/v3/accesslog_pb.ts";
import { AccessLogService, StreamAccessLogsMessageSchema } from "../gen/envoy/service/accesslog/v3/als_pb.ts";

/** A proxy that sends access logs, as its Istio agent has configured it. */
export interface LoggedBy {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  readonly workload: string;
  /** Of its pod. */
  readonly address: string;
}

/** The flags of a response that Envoy has as truth values. */
export type LoggedFlag = {
  [F in keyof ResponseFlags]-?: ResponseFlags[F] extends boolean ? F : never;
}[keyof ResponseFlags];

/** One HTTP request, as a proxy logs it. Times are milliseconds, the start since 1970. */
export interface LoggedRequest {
  readonly startMs: number;
  readonly durationMs: number;
  /** Envoy's cluster: `outbound|9080||reviews.bookinfo.svc.cluster.local`, `inbound|9080||`. */
  readonly upstreamCluster: string;
  /** Who asked; without a port. */
  readonly downstreamAddress: string;
  /** Who answered; undefined: nobody was asked. */
  readonly upstreamAddress?: string;
  /** The URI in the certificate of who asked. */
  readonly identity?: string;
  readonly method: "GET" | "POST";
  readonly authority: string;
  readonly path: string;
  readonly status: number;
  readonly statusDetails: string;
  readonly flags: readonly LoggedFlag[];
  readonly requestId: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** The access log service of an agent, as proxies call it. */
export interface AccessLogClient {
  /** Sends entries on the stream of the proxy and the log; they are lost where nobody takes them. */
  send(proxy: LoggedBy, logName: string, requests: readonly LoggedRequest[]): void;
  close(): void;
}

/** Calls `envoy.service.accesslog.v3.AccessLogService` at `address`, HOST:PORT, in plaintext: one stream for each proxy and log, opened again after it has ended. */
export function accessLogClient(address: string): AccessLogClient {
  const client = new Client(address, credentials.createInsecure());
  const streams = new Map<string, ClientWritableStream<Uint8Array>>();

  function open(key: string): ClientWritableStream<Uint8Array> {
    const call = client.makeClientStreamRequest(PATH, asBuffer, asBuffer, () => {
      if (streams.get(key) === call) streams.delete(key);
    });
    // Its end is reported to the callback above.
    call.on("error", () => undefined);
    streams.set(key, call);
    return call;
  }

  return {
    send(proxy, logName, requests) {
      const key = `${proxy.namespace}/${proxy.pod}/${logName}`;
      const known = streams.get(key);
      const call = known ?? open(key);
      // A proxy does not hold what its agent has no time for.
      if (call.writableLength > MOST_WAITING) return;
      call.write(message(requests, known === undefined ? identifierOf(proxy, logName) : undefined));
    },
    close() {
      for (const call of streams.values()) call.cancel();
      client.close();
    },
  };
}

function message(requests: readonly LoggedRequest[], identifier: ReturnType<typeof identifierOf> | undefined): Uint8Array {
  return toBinary(
    StreamAccessLogsMessageSchema,
    create(StreamAccessLogsMessageSchema, {
      ...(identifier === undefined ? {} : { identifier }),
      logEntries: { case: "httpLogs", value: { logEntry: requests.map(entryOf) } },
    }),
  );
}

function identifierOf({ cluster, namespace, pod, workload, address }: LoggedBy, logName: string) {
  const metadata = { NAME: pod, NAMESPACE: namespace, WORKLOAD_NAME: workload, CLUSTER_ID: cluster };
  return { node: { id: `sidecar~${address}~${pod}.${namespace}~${namespace}.svc.cluster.local`, metadata }, logName };
}

function entryOf(request: LoggedRequest): MessageInitShape<typeof HTTPAccessLogEntrySchema> {
  const { identity, upstreamAddress } = request;
  return {
    commonProperties: {
      startTime: { seconds: BigInt(Math.floor(request.startMs / 1_000)), nanos: Math.floor((request.startMs % 1_000) * 1e6) },
      duration: { seconds: BigInt(Math.floor(request.durationMs / 1_000)), nanos: Math.floor((request.durationMs % 1_000) * 1e6) },
      upstreamCluster: request.upstreamCluster,
      downstreamDirectRemoteAddress: socketOf(request.downstreamAddress),
      ...(upstreamAddress === undefined ? {} : { upstreamRemoteAddress: socketOf(upstreamAddress) }),
      responseFlags: Object.fromEntries(request.flags.map((flag) => [flag, true])),
      ...(identity === undefined
        ? {}
        : { tlsProperties: { peerCertificateProperties: { subjectAltName: [{ san: { case: "uri", value: identity } }] } } }),
    },
    request: {
      requestMethod: RequestMethod[request.method],
      authority: request.authority,
      path: request.path,
      requestId: request.requestId,
      requestBodyBytes: BigInt(request.requestBytes),
    },
    response: {
      responseCode: request.status,
      responseCodeDetails: request.statusDetails,
      responseBodyBytes: BigInt(request.responseBytes),
    },
  };
}

function socketOf(address: string) {
  return { address: { case: "socketAddress" as const, value: { address } } };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes);
}

const PATH = `/${AccessLogService.typeName}/${AccessLogService.method.streamAccessLogs.name}`;
// Messages of one stream.
const MOST_WAITING = 16;
