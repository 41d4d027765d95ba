import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, type Log, messageOf } from "@isthmus/core";
import { type HttpServer, sendText, startHttpServer } from "@isthmus/process/http";

/** A service that is offered to proxies, by gRPC. */
export interface OfferedService {
  readonly port: number;
  /** As gRPC names it. */
  readonly service: string;
}

/** What proxies are offered on a port; nothing before it is open. */
export function offeredServices(port: number | undefined, hasWasm: boolean): readonly OfferedService[] {
  if (port === undefined) return [];
  const services = [ACCESS_LOGS, ...(hasWasm ? [WASM_FILTERS] : [])];
  return services.map((service) => ({ port, service }));
}

const ACCESS_LOGS = "envoy.service.accesslog.v3.AccessLogService";
const WASM_FILTERS = "envoy.service.extension.v3.ExtensionConfigDiscoveryService";

export interface WorkloadHttpOptions {
  /** Address, or a name of one. */
  readonly host: string;
  /** 9988 by custom; 0 takes any that is free. */
  readonly port: number;
  readonly clusterName: string;
  /** Why proxies are not served at this moment; undefined: they are. */
  readonly lacking: () => string | undefined;
  /** What is offered to proxies on the other port. */
  readonly offered: () => readonly OfferedService[];
  readonly clock: Clock;
  readonly log: Log;
}

/** The HTTP port beside the one for proxies. */
export interface WorkloadHttp {
  /** That it listens on; rejects when it ended before it did. */
  readonly listening: Promise<number>;
  /** Resolves when it was aborted and has closed its port. */
  readonly ended: Promise<void>;
}

/**
 * Answers those who watch the port for proxies and do not speak gRPC: load balancers, probes, people with curl (docs/decisions/0151). Only GET and
 * HEAD of three paths, to everyone who reaches the port: nothing of what the agent knows is among the answers. A port that cannot be had is tried
 * again every 10 s.
 */
export function startWorkloadHttp(options: WorkloadHttpOptions, signal: AbortSignal): WorkloadHttp {
  const { log } = options;
  const bound = listen(options, signal);
  const ended = bound.then(
    async (server) => {
      log.info({ port: server.port }, `health of what proxies are served is answered on port ${server.port}`);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await server.close();
    },
    () => undefined,
  );
  const listening = bound.then(({ port }) => port);
  // Who does not wait for it does not learn that it never came.
  listening.catch(() => undefined);
  return { listening, ended };
}

async function listen(options: WorkloadHttpOptions, signal: AbortSignal): Promise<HttpServer> {
  const { host, port, clock, log } = options;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await startHttpServer({
        host,
        port,
        answer: async (request, response) => answer(request, response, options),
        failed: () => "internal error",
        connections: { perAddress: 32, inAll: 256 },
        requestMs: 5_000,
        remedy: "free the port, or set another with --workload-http-port",
      });
    } catch (error) {
      log.error({ host, port }, `${messageOf(error)}; trying again in ${RETRY_MS / 1_000} s`);
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

function answer(
  { method, url = "" }: IncomingMessage,
  response: ServerResponse,
  { clusterName, lacking, offered }: WorkloadHttpOptions,
): void {
  const [path] = url.split("?", 1);
  if (method !== "GET" && method !== "HEAD") sendText(response, 405, "only GET and HEAD are supported");
  else if (path === "/healthz") sendText(response, 200, "ok");
  else if (path === "/readyz") {
    const why = lacking();
    sendText(response, why === undefined ? 200 : 503, why === undefined ? "ready" : `not ready: ${why}`);
  } else if (path === "/services") {
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" });
    response.end(JSON.stringify({ cluster: clusterName, services: offered() }));
  } else sendText(response, 404, "not found; available: /healthz, /readyz, /services");
}

const RETRY_MS = 10_000;
