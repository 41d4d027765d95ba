import { fromBinary } from "@bufbuild/protobuf";
import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type Clock, type Log, messageOf } from "@isthmus/core";
import type { PodAtAddress, PodsAt } from "../accessLogs/accessLog.ts";
import { podAddressOf } from "../accessLogs/accessLogStream.ts";
import { DiscoveryRequestSchema } from "../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { ExtensionConfigDiscoveryService } from "../gen/envoy/service/extension/v3/config_discovery_pb.ts";
import type { WorkloadService } from "../workloadPort.ts";
import { type ConfigOutcome, DiscoveryRefused, type ExtensionConfig, extensionConfigStream } from "./extensionConfigStream.ts";

export interface ExtensionConfigOptions {
  /** The pods to which the cluster gave an address. They decide who is served, whatever a proxy says of itself. */
  readonly podsAt: PodsAt;
  /** What there is for a pod, by the names of filters. The same object while nothing changes. */
  readonly configsOf: (pod: PodAtAddress) => ReadonlyMap<string, ExtensionConfig>;
  /** Called when a proxy has answered, has come or has gone: `outcomes` may be others. Default: nobody asks. */
  readonly answered?: () => void;
  /** Default: `DISCOVERY_LIMITS`. */
  readonly limits?: DiscoveryLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** How much may be open, and on its way, at a time. */
export interface DiscoveryLimits {
  readonly streams: number;
  readonly streamsOfAddress: number;
  /** Bytes that were sent and that no proxy has answered yet. */
  readonly bytes: number;
  readonly bytesOfAddress: number;
  /** Milliseconds in which a proxy answers what it is sent. */
  readonly answerMs: number;
}

/** What became of one filter at one proxy that is connected. */
export interface ProxyOutcome {
  readonly pod: PodAtAddress;
  readonly filter: string;
  readonly outcome: ConfigOutcome;
}

/** Gives proxies the configuration of their filters. */
export interface ExtensionConfigs {
  /** To be served by `openWorkloadPort`. */
  readonly service: WorkloadService;
  /** Has all streams compared with what there is for them now. */
  changed(): void;
  /** Of the proxies that are connected now. */
  outcomes(): readonly ProxyOutcome[];
}

/**
 * Serves `envoy.service.extension.v3.ExtensionConfigDiscoveryService/StreamExtensionConfigs` (docs/decisions/0113). A stream that sends
 * nonsense, or does not answer, is closed, and no other one. What is on its way is bounded: who waits is served in the order of asking.
 */
export function extensionConfigs(options: ExtensionConfigOptions, signal: AbortSignal): ExtensionConfigs {
  const { podsAt, configsOf, answered, limits = DISCOVERY_LIMITS, clock, log } = options;
  const open = new Set<OpenStream>();
  /** Streams that may have to be sent something, in the order in which they came to wait. */
  const waiting = new Set<OpenStream>();
  const addresses = new Map<string, { streams: number; bytes: number }>();
  let bytesOnTheirWay = 0;
  let introduced: (peer: string) => void = () => undefined;

  function at(address: string): { streams: number; bytes: number } {
    const known = addresses.get(address) ?? { streams: 0, bytes: 0 };
    addresses.set(address, known);
    return known;
  }

  function release(stream: OpenStream): void {
    bytesOnTheirWay -= stream.bytes;
    at(stream.address).bytes -= stream.bytes;
    stream.bytes = 0;
    stream.deadline?.abort();
    stream.deadline = undefined;
  }

  function close(stream: OpenStream, error?: { readonly code: status; readonly details: string }): void {
    if (!open.delete(stream)) return;
    waiting.delete(stream);
    release(stream);
    const there = at(stream.address);
    there.streams -= 1;
    if (there.streams === 0) addresses.delete(stream.address);
    if (error === undefined) stream.call.end();
    else stream.call.emit("error", error);
    sendWaiting();
    answered?.();
  }

  function send(stream: OpenStream, bytes: Uint8Array): void {
    stream.bytes = bytes.length;
    bytesOnTheirWay += bytes.length;
    at(stream.address).bytes += bytes.length;
    const deadline = new AbortController();
    stream.deadline = deadline;
    clock.sleep(limits.answerMs, AbortSignal.any([deadline.signal, signal])).then(
      () => close(stream, { code: status.DEADLINE_EXCEEDED, details: "the proxy has not answered what it was sent" }),
      // It has answered, or the agent ends.
      () => undefined,
    );
    stream.call.write(bytes);
  }

  function sendWaiting(): void {
    for (const stream of waiting) {
      if (bytesOnTheirWay >= limits.bytes) return;
      // Its others wait behind it; those of other addresses do not.
      if (at(stream.address).bytes >= limits.bytesOfAddress) continue;
      waiting.delete(stream);
      const pod = podOf(podsAt(stream.address), stream.state.claimed);
      const response = pod === undefined ? undefined : stream.state.next(configsOf(pod));
      if (response !== undefined) send(stream, response.bytes);
    }
  }

  function receive(stream: OpenStream, message: Uint8Array): void {
    const isNew = stream.state.claimed === undefined;
    stream.state.receive(requestOf(message));
    if (isNew) introduced(stream.call.getPeer());
    if (!stream.state.isOwed) release(stream);
    waiting.add(stream);
    sendWaiting();
    answered?.();
  }

  function serve(call: ServerDuplexStream<Uint8Array, Uint8Array>): void {
    const address = podAddressOf(call.getPeer());
    const there = at(address);
    const stream: OpenStream = { call, address, state: extensionConfigStream(), bytes: 0, deadline: undefined };
    // An error that is emitted is the status with which the library ends the stream.
    if (open.size >= limits.streams || there.streams >= limits.streamsOfAddress) {
      if (there.streams === 0) addresses.delete(address);
      call.emit("error", { code: status.RESOURCE_EXHAUSTED, details: "this agent has as many streams of filters as it takes" });
      return;
    }
    open.add(stream);
    there.streams += 1;
    call.on("data", (message: Uint8Array) => {
      if (!open.has(stream)) return;
      try {
        receive(stream, message);
      } catch (error) {
        const isTheirs = error instanceof DiscoveryRefused;
        if (!isTheirs) log.error({}, `stream of filters failed: ${messageOf(error)}`);
        close(stream, { code: isTheirs ? status.INVALID_ARGUMENT : status.INTERNAL, details: isTheirs ? error.message : "internal error" });
      }
    });
    call.on("end", () => close(stream));
    call.on("error", () => close(stream));
    call.on("cancelled", () => close(stream));
  }

  function changed(): void {
    for (const stream of open) waiting.add(stream);
    sendWaiting();
  }

  void recheck(changed, clock, signal);
  return {
    service(server, peers) {
      introduced = peers.introduced;
      server.addService({ [METHOD.name]: METHOD_DEFINITION }, { [METHOD.name]: serve });
    },
    changed,
    outcomes: () =>
      [...open].flatMap(({ address, state }) => {
        const pod = podOf(podsAt(address), state.claimed);
        return pod === undefined ? [] : [...state.outcomes()].map(([filter, outcome]) => ({ pod, filter, outcome }));
      }),
  };
}

interface OpenStream {
  readonly call: ServerDuplexStream<Uint8Array, Uint8Array>;
  readonly address: string;
  readonly state: ReturnType<typeof extensionConfigStream>;
  /** Sent, and not answered yet. */
  bytes: number;
  deadline: AbortController | undefined;
}

/** Whose proxy it is: the only pod at its address; of several, as with hostNetwork, the one that it says it is; else nobody's that is known. */
function podOf(
  pods: readonly PodAtAddress[],
  claimed: { readonly podName: string; readonly namespace: string } | undefined,
): PodAtAddress | undefined {
  if (claimed === undefined) return undefined;
  if (pods.length === 1) return pods[0];
  return pods.find(({ name, namespace }) => name === claimed.podName && namespace === claimed.namespace);
}

/** A pod may be known only after its proxy has connected, and an address may pass to another pod. */
async function recheck(changed: () => void, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(RECHECK_MS, signal);
    } catch {
      // Aborted: there is nothing left to compare.
      return;
    }
    changed();
  }
}

function requestOf(message: Uint8Array): ReturnType<typeof fromBinary<typeof DiscoveryRequestSchema>> {
  if (message.length > LONGEST_REQUEST) throw new DiscoveryRefused(`a request has at most ${LONGEST_REQUEST} bytes`);
  try {
    return fromBinary(DiscoveryRequestSchema, message);
  } catch {
    throw new DiscoveryRefused("the message is no DiscoveryRequest");
  }
}

const METHOD = ExtensionConfigDiscoveryService.method.streamExtensionConfigs;

// Messages are decoded where an error ends their own stream.
const METHOD_DEFINITION = {
  path: `/${ExtensionConfigDiscoveryService.typeName}/${METHOD.name}`,
  requestStream: true,
  responseStream: true,
  requestSerialize: (message: Uint8Array) => Buffer.from(message),
  requestDeserialize: (message: Uint8Array) => message,
  responseSerialize: (message: Uint8Array) => Buffer.from(message.buffer, message.byteOffset, message.byteLength),
  responseDeserialize: (message: Uint8Array) => message,
};

// A proxy has a stream for each filter. Sixteen of the largest modules would be 256 MiB: an agent has less memory than that.
const DISCOVERY_LIMITS: DiscoveryLimits = {
  streams: 10_000,
  streamsOfAddress: 1_000,
  bytes: 64 * 1024 * 1024,
  bytesOfAddress: 17 * 1024 * 1024,
  // V8 compiles 16 MiB within that on a slow core.
  answerMs: 60_000,
};
const RECHECK_MS = 5_000;
// Envoy sends all of its node, with the names of its extensions: some 100 KiB.
const LONGEST_REQUEST = 1024 * 1024;
