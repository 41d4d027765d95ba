import { Server } from "@grpc/grpc-js";
import { type Clock, type Log, type Metric, messageOf } from "@isthmus/core";
import {
  type ConnectionGuard,
  type ConnectionLimits,
  type Http2Server,
  limitUnfinished,
  serveGrpc,
  startConnectionGuard,
  startHttp2Server,
  type UnfinishedLimits,
} from "@isthmus/relay/http2";

/** What a service may tell the port. */
export interface WorkloadPeers {
  /** The peer of a call, as the gRPC library names it, has introduced itself as a proxy: its connection counts as that of a proxy from then on. */
  introduced(peer: string): void;
}

/** Adds what it serves to a server that does not listen yet. It is called once for each attempt to listen. */
export type WorkloadService = (server: Server, peers: WorkloadPeers) => void;

/** How much may be open, and half-sent, at a time. */
export interface WorkloadPortLimits {
  readonly connections: Omit<ConnectionLimits, "callMs">;
  readonly unfinished: UnfinishedLimits;
}

export interface WorkloadPortOptions {
  /** Address, or a name of one. */
  readonly host: string;
  /** 9977 by custom; 0 takes any that is free. */
  readonly port: number;
  readonly services: readonly WorkloadService[];
  /** What messages call the port: `access logs`. */
  readonly purpose: string;
  /** Default: `WORKLOAD_PORT_LIMITS`. */
  readonly portLimits?: WorkloadPortLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** The port of an agent for the proxies of its cluster. */
export interface WorkloadPort {
  /** That it listens on; rejects when it ended before it did. */
  readonly listening: Promise<number>;
  /** Resolves when it was aborted and has closed its port. */
  readonly ended: Promise<void>;
  metrics(): readonly Metric[];
}

/**
 * Serves gRPC in plaintext, as proxies call it, until `signal` is aborted. Nobody proves who they are here; what connections, streams and half-sent
 * messages may cost is bounded as on the port of the management server (docs/decisions/0151). A port that cannot be had is tried again every 10 s:
 * an agent without it is still an agent.
 */
export function openWorkloadPort(options: WorkloadPortOptions, signal: AbortSignal): WorkloadPort {
  const { log, purpose, portLimits = WORKLOAD_PORT_LIMITS } = options;
  const guard = startConnectionGuard({ limits: portLimits.connections, metric: "gloo_mesh_workload_connections_cut_total", log });
  const bound = listen({ ...options, portLimits }, guard, signal);
  const ended = bound.then(
    async (server) => {
      log.info({ port: server.port }, `${purpose} of proxies are taken on port ${server.port}`);
      await aborted(signal);
      // Proxies send again, to another replica or to the next process.
      await server.close(0);
      guard.stop();
    },
    () => guard.stop(),
  );
  const listening = bound.then(({ port }) => port);
  // Who does not wait for it does not learn that it never came.
  listening.catch(() => undefined);
  return { listening, ended, metrics: guard.metrics };
}

async function listen(
  { host, port, services, portLimits, clock, log, purpose }: WorkloadPortOptions & { readonly portLimits: WorkloadPortLimits },
  guard: ConnectionGuard,
  signal: AbortSignal,
): Promise<Http2Server> {
  for (;;) {
    signal.throwIfAborted();
    const server = new Server(SERVER_OPTIONS);
    for (const service of services) service(server, { introduced: guard.identified });
    try {
      return await startHttp2Server({
        host,
        port,
        remedy: "free the port, or set another with --workload-port",
        tls: undefined,
        guard,
        // A proxy has one stream per access log record and worker thread.
        streams: { few: STREAMS, many: STREAMS },
        limitStream: limitUnfinished(portLimits.unfinished),
        serve: (http2Server) => serveGrpc(server, http2Server),
      });
    } catch (error) {
      log.error({ host, port }, `${messageOf(error)}; trying again for ${purpose} in ${RETRY_MS / 1_000} s`);
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const STREAMS = 100;
const MEBIBYTE = 1024 * 1024;

/** Sizes for a pod with 512 MiB (docs/decisions/0151). A proxy has a connection for each worker thread, and pods with hostNetwork share an address. */
export const WORKLOAD_PORT_LIMITS: WorkloadPortLimits = {
  connections: { connections: 4_000, connectionsPerAddress: 256, unknownMs: 60_000 },
  unfinished: { bytes: 32 * MEBIBYTE, bytesOfAddress: 8 * MEBIBYTE, message: 4 * MEBIBYTE, messageMs: 20_000 },
};

const SERVER_OPTIONS = {
  "grpc.max_receive_message_length": 4 * MEBIBYTE,
  // Its figures of every connection and call are of no use to us.
  "grpc.enable_channelz": 0,
  "grpc.max_connection_idle_ms": 60_000,
  // Finds connections of which the other end is gone for good.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 20_000,
};

const RETRY_MS = 10_000;
