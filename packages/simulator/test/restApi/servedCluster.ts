import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, Kind, Resource } from "@isthmus/core";
import { onTestFinished } from "vitest";
import { type SimulatedCluster, simulatedCluster } from "../../src/index.ts";
import { type ServedApi, type ServeOptions, serveCluster } from "../../src/restApi/index.ts";

/** The clock of this machine: sockets know no other. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
};

export interface ServedCluster {
  readonly cluster: SimulatedCluster;
  readonly server: ServedApi;
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

export interface Answer {
  readonly code: number;
  readonly text: string;
  /** What it says as JSON; an empty object where it is none. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface Options extends Omit<ServeOptions, "cluster"> {
  readonly kinds?: readonly Kind[];
  readonly name?: string;
  readonly historyLimit?: number;
  readonly resources?: readonly Resource[];
}

/** A simulated cluster that is served until the test ends. */
export async function servedCluster({
  kinds = [],
  name = "",
  historyLimit = 4096,
  resources = [],
  ...options
}: Options = {}): Promise<ServedCluster> {
  const cluster = simulatedCluster({ name, clock: systemClock, kinds, historyLimit });
  cluster.load(resources);
  const server = await serveCluster({ cluster, ...options });
  onTestFinished(() => server.close());
  return { cluster, server, send: (method, path, body, headers = {}) => send(server, { method, path, body, headers }) };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends one request as the administrator, unless its headers say otherwise. Rejects when the connection breaks. */
function send({ url, ca, token }: ServedApi, { method, path, body, headers }: Sent): Promise<Answer> {
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const all = {
    authorization: `Bearer ${token}`,
    ...(text === undefined ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers: all, ca, agent: false }, (response) => {
      let received = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        received += chunk;
      });
      response.on("end", () =>
        resolve({ code: response.statusCode ?? 0, text: received, json: jsonOf(received), headers: response.headers }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
