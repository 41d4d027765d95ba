import { createServer, type Server } from "node:http";
import { UsageError } from "@isthmus/core";
import { Gauge, Registry } from "prom-client";

/** One reading of the relay. */
export interface Reading {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface AdminOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly isReady: () => boolean;
  readonly metrics: () => readonly Reading[];
}

/** Serves /metrics, /healthz and /readyz. Rejects with UsageError when the port is taken. */
export async function startAdmin(options: AdminOptions): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    void answer(request.url ?? "/", options).then(({ status, type, body }) => {
      response.writeHead(status, { "content-type": type });
      response.end(body);
    });
  });
  await listening(server, options);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function answer(url: string, { isReady, metrics }: AdminOptions): Promise<Answer> {
  const text = (status: number, body: string): Answer => ({ status, type: "text/plain; charset=utf-8", body: `${body}\n` });
  switch (new URL(url, "http://localhost").pathname) {
    case "/healthz":
      return text(200, "ok");
    case "/readyz":
      return isReady() ? text(200, "ready") : text(503, "not ready yet");
    case "/metrics": {
      const registry = registryOf(metrics());
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    default:
      return text(404, "there is /metrics, /healthz and /readyz");
  }
}

function registryOf(readings: readonly Reading[]): Registry {
  const registry = new Registry();
  for (const name of new Set(readings.map((reading) => reading.name))) {
    const ofName = readings.filter((reading) => reading.name === name);
    const labelNames = [...new Set(ofName.flatMap(({ labels }) => Object.keys(labels)))];
    const gauge = new Gauge({ name, help: name.replaceAll("_", " "), labelNames, registers: [registry] });
    for (const { labels, value } of ofName) gauge.set(labels, value);
  }
  return registry;
}

function listening(server: Server, { host, port }: AdminOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new UsageError(`port ${port} on ${host} is taken: choose another with --admin-port`) : error),
    );
    server.listen(port, host, resolve);
  });
}
