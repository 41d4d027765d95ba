import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Kubeconfig, loadKubeconfig } from "../src/index.ts";

/** One request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export interface ScriptedApiServer {
  readonly url: string;
  readonly kubeconfig: Kubeconfig;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

/** Answers one request; gives false when it has no answer, which becomes a 404. */
export type Script = (request: SeenRequest, response: ServerResponse) => boolean | undefined | Promise<boolean | undefined>;

/** An HTTP server that behaves as a test says: for behaviour that a healthy API server doesn't show. */
export async function scriptedApiServer(script: Script): Promise<ScriptedApiServer> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://localhost");
    const body = await text(incoming);
    const request = {
      method: incoming.method ?? "",
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: incoming.headers,
      body: body === "" ? undefined : JSON.parse(body),
    };
    seen.push(request);
    if ((await script(request, response)) === false && !discovers(request, response)) response.writeHead(404).end("404 page not found");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    kubeconfig: loadKubeconfig({ text: kubeconfigFor(url, { token: "right" }) }),
    seen,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A kubeconfig for a server without TLS. */
export function kubeconfigFor(server: string, user: unknown): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}

export function answer(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): true {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  return true;
}

/** Discovery in the format before aggregation: ConfigMaps alone. */
function discovers({ path }: SeenRequest, response: ServerResponse): boolean {
  if (path === "/api") return answer(response, 200, { kind: "APIVersions", versions: ["v1"] });
  if (path === "/apis") return answer(response, 200, { kind: "APIGroupList", groups: [] });
  if (path !== "/api/v1") return false;
  return answer(response, 200, {
    kind: "APIResourceList",
    resources: [
      { name: "configmaps", kind: "ConfigMap", namespaced: true },
      { name: "pods/eviction", kind: "Eviction", namespaced: true },
    ],
  });
}
