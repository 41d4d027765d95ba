import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js";
import type { Clock } from "@isthmus/core";
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../src/gen/envoy/service/discovery/v3/discovery_pb.ts";
import { type AccessLogSink, type PodsAt, startAccessLogSink } from "../src/index.ts";
import { type DiscoveryLimits, type ExtensionConfigs, extensionConfigs } from "../src/wasm/extensionConfigService.ts";
import type { ExtensionConfig } from "../src/wasm/extensionConfigStream.ts";
import type { WorkloadService } from "../src/workloadPort.ts";
import { asBuffer, silent, wallClock } from "./wallClock.ts";

/** An agent's filters on a port of its own, and a client of it. */
export interface RunningConfigs {
  readonly configs: ExtensionConfigs;
  /** Opened beside the filters, on the same port. */
  readonly sink: AccessLogSink;
  readonly port: number;
  open(): ProxyStream;
  stop(): Promise<void>;
}

/** A stream as a proxy opens it. */
export interface ProxyStream {
  readonly call: ClientDuplexStream<Uint8Array, Uint8Array>;
  /** What has come, in order. */
  readonly received: readonly DiscoveryResponse[];
  /** The code and details with which it ended. */
  readonly ended: Promise<string>;
  ask(request: MessageInitShape<typeof DiscoveryRequestSchema>): void;
}

/** A service on a port of its own until `signal` is aborted, and a client of it. */
export async function serveService(
  service: WorkloadService,
  signal: AbortSignal,
  podsAt: PodsAt = () => [],
): Promise<Pick<RunningConfigs, "sink" | "port" | "open"> & { readonly client: Client }> {
  const sink = startAccessLogSink({ host: "127.0.0.1", port: 0, podsAt, besides: [service], clock: wallClock, log: silent }, signal);
  const port = await sink.listening;
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { "grpc.max_receive_message_length": -1 });
  signal.addEventListener("abort", () => client.close(), { once: true });
  return {
    sink,
    port,
    client,
    open() {
      const call = client.makeBidiStreamRequest(PATH, asBuffer, (bytes) => bytes as Uint8Array);
      const received: DiscoveryResponse[] = [];
      call.on("data", (bytes: Uint8Array) => received.push(fromBinary(DiscoveryResponseSchema, bytes)));
      call.on("error", () => undefined);
      const ended = new Promise<string>((resolve) => {
        call.on("status", ({ code, details }: { code: number; details: string }) => resolve(`${code} ${details}`));
      });
      const ask = (request: MessageInitShape<typeof DiscoveryRequestSchema>) => {
        call.write(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)));
      };
      return { call, received, ended, ask };
    },
  };
}

/** Serves `there`, by the names of pods. */
export async function serveConfigs(
  podsAt: PodsAt,
  there: ReadonlyMap<string, ReadonlyMap<string, ExtensionConfig>>,
  { limits, clock = wallClock }: { limits?: DiscoveryLimits; clock?: Clock } = {},
): Promise<RunningConfigs> {
  const stopped = new AbortController();
  const parts = { podsAt, clock, log: silent, ...(limits === undefined ? {} : { limits }) };
  const configs = extensionConfigs({ ...parts, configsOf: ({ name }) => there.get(name) ?? new Map() }, stopped.signal);
  const { client, ...served } = await serveService(configs.service, stopped.signal, podsAt);
  return {
    ...served,
    configs,
    async stop() {
      client.close();
      stopped.abort(new Error("the test is over"));
      await served.sink.ended;
    },
  };
}

const PATH = "/envoy.service.extension.v3.ExtensionConfigDiscoveryService/StreamExtensionConfigs";
