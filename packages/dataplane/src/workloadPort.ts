import { Server, ServerCredentials } from "@grpc/grpc-js";
import { type Clock, type Log, messageOf } from "@isthmus/core";

/** Adds what it serves to a server that does not listen yet. It is called once for each attempt to listen. */
export type WorkloadService = (server: Server) => void;

export interface WorkloadPortOptions {
  /** Address, or a name of one. */
  readonly host: string;
  /** 9977 by custom; 0 takes any that is free. */
  readonly port: number;
  readonly services: readonly WorkloadService[];
  /** What messages call the port: `access logs`. */
  readonly purpose: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The port of an agent for the proxies of its cluster. */
export interface WorkloadPort {
  /** That it listens on; rejects when it ended before it did. */
  readonly listening: Promise<number>;
  /** Resolves when it was aborted and has closed its port. */
  readonly ended: Promise<void>;
}

/**
 * Serves gRPC in plaintext, as proxies call it, until `signal` is aborted. A port that cannot be had is tried again every 10 s: an agent
 * without it is still an agent.
 */
export function openWorkloadPort(options: WorkloadPortOptions, signal: AbortSignal): WorkloadPort {
  const { log, purpose } = options;
  const bound = listen(options, signal);
  const ended = bound.then(
    ({ server, port }) => {
      log.info({ port }, `${purpose} of proxies are taken on port ${port}`);
      return new Promise<void>((resolve) => {
        const stop = () => {
          server.forceShutdown();
          resolve();
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      });
    },
    () => undefined,
  );
  const listening = bound.then(({ port }) => port);
  // Who does not wait for it does not learn that it never came.
  listening.catch(() => undefined);
  return { listening, ended };
}

interface Bound {
  readonly server: Server;
  readonly port: number;
}

async function listen({ host, port, services, purpose, clock, log }: WorkloadPortOptions, signal: AbortSignal): Promise<Bound> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  for (;;) {
    signal.throwIfAborted();
    // The library remembers a port that it could not have: each attempt is one of its own.
    const server = new Server(SERVER_OPTIONS);
    for (const service of services) service(server);
    try {
      return { server, port: await bind(server, address) };
    } catch (error) {
      server.forceShutdown();
      log.error(
        { address },
        `cannot listen on ${address} for ${purpose}, trying again in ${RETRY_MS / 1_000} s: ${messageOf(error)}: free the port, or set another with --workload-port`,
      );
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => (error === null ? resolve(port) : reject(error)));
  });
}

// With channelz, although nobody reads its figures: without it the library does not know its connections, and leaves them open at shutdown.
const SERVER_OPTIONS = {
  "grpc.max_receive_message_length": 4 * 1024 * 1024,
  // A proxy has one per access log record and worker thread.
  "grpc.max_concurrent_streams": 100,
  "grpc.max_connection_idle_ms": 60_000,
  // Finds connections of which the other end is gone for good.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 20_000,
};

const RETRY_MS = 10_000;
