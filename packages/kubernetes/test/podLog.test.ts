import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { loadKubeconfig, podLogs } from "../src/index.ts";

const clock = { now: () => Date.now(), sleep: (ms: number) => sleep(ms) };
let server: Server | undefined;
afterEach(() => server?.close());

async function logsOf(answer: (path: string) => { readonly status: number; readonly text: string }) {
  server = createServer(({ url = "" }, response) => {
    const { status, text } = answer(url);
    response.writeHead(status).end(text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const text = JSON.stringify({
    clusters: [
      { name: "c", cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, "insecure-skip-tls-verify": true } },
    ],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: {} }],
    "current-context": "c",
  });
  return podLogs({ kubeconfig: loadKubeconfig({ text }), clock });
}

describe("the log of a pod", () => {
  it("is its last lines, and no more than is asked for", async () => {
    const logs = await logsOf((path) => ({ status: 200, text: `${path}\nlast line\n` }));
    expect(await logs.last({ name: "agent/../x", namespace: "gloo-mesh" })).toBe(
      "/api/v1/namespaces/gloo-mesh/pods/agent%2F..%2Fx/log?tailLines=50&limitBytes=262144\nlast line\n",
    );
  });

  it("that a node does not give is an error with the API server's words", async () => {
    const status = { kind: "Status", code: 500, message: "dial tcp 10.0.0.1:10250: connect: connection refused" };
    const logs = await logsOf(() => ({ status: 500, text: JSON.stringify(status) }));
    await expect(logs.last({ name: "agent", namespace: "gloo-mesh" })).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("connection refused"),
    });
  });
});
