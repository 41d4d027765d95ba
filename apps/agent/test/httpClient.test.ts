import { createServer as createPlainServer, type RequestListener, type Server } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createRoot, issueServerCertificate } from "@isthmus/certificates";
import { HttpError, type HttpRequest } from "@isthmus/plane";
import { afterEach, expect, it } from "vitest";
import { httpClient } from "../src/httpClient.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A server with a certificate for localhost, and the root that it is below. */
async function secured(answer: RequestListener): Promise<{ readonly url: string; readonly roots: string }> {
  const root = await createRoot({ commonName: "root", now: Date.now() });
  const { certificate, key } = await issueServerCertificate(root, { dnsNames: ["localhost"], now: Date.now() });
  const port = await listening(createServer({ cert: certificate, key }, answer));
  return { url: `https://localhost:${port}/v1/pki`, roots: root.certificate };
}

function call(request: Pick<HttpRequest, "url"> & Partial<HttpRequest>, signal = new AbortController().signal) {
  return httpClient({ method: "POST", headers: {}, mostBytes: 1_000, timeoutMs: 10_000, ...request }, signal);
}

async function problemOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HttpError);
  return `${(error as HttpError).code}: ${(error as HttpError).message}`;
}

it("sends body and headers over TLS to a server whose certificate is below the given root, and gives its answer", async () => {
  const { url, roots } = await secured((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += String(chunk);
    });
    request.on("end", () => response.writeHead(403).end(`${request.method} ${request.url} ${request.headers["x-vault-token"]} ${body}`));
  });
  const answer = await call({ url, roots, headers: { "x-vault-token": "t" }, body: '{"csr":"…"}' });
  expect(answer).toEqual({ status: 403, body: 'POST /v1/pki t {"csr":"…"}' });
});

it("sends nothing to a server whose certificate is below no such root, or for another name", async () => {
  let requests = 0;
  const { url, roots } = await secured((_, response) => {
    requests += 1;
    response.end("{}");
  });
  expect(await problemOf(call({ url }))).toMatch(/^Untrusted: /);
  expect(await problemOf(call({ url: url.replace("localhost", "127.0.0.1"), roots }))).toMatch(/^Untrusted: .*127\.0\.0\.1/);
  expect(requests).toBe(0);
});

it("follows no redirect", async () => {
  const asked: (string | undefined)[] = [];
  const { url, roots } = await secured((request, response) => {
    asked.push(request.url);
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  expect((await call({ url, roots })).status).toBe(307);
  expect(asked).toEqual(["/v1/pki"]);
});

it("gives up when a server does not answer, or does not come to an end, and when its caller does", async () => {
  const silent = await listening(createPlainServer(() => undefined));
  expect(await problemOf(call({ url: `http://127.0.0.1:${silent}`, timeoutMs: 200 }))).toBe("TimedOut: no answer within 0.2 s");
  const slow = await listening(createPlainServer((_, response) => void response.write("{")));
  expect(await problemOf(call({ url: `http://127.0.0.1:${slow}`, timeoutMs: 200 }))).toBe("TimedOut: no answer within 0.2 s");
  const stop = new AbortController();
  const asked = call({ url: `http://127.0.0.1:${silent}` }, stop.signal);
  stop.abort(new Error("the agent stops"));
  await expect(asked).rejects.toThrow("the agent stops");
});

it("reads no more of an answer than was asked for", async () => {
  let written = 0;
  const port = await listening(
    createPlainServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(10_000))) written += 10_000;
      };
      response.on("drain", more);
      more();
    }),
  );
  expect(await problemOf(call({ url: `http://127.0.0.1:${port}` }))).toBe("TooLarge: the answer is longer than 1000 bytes");
  expect(written).toBeLessThan(50_000_000);
});

it("says that a server cannot be reached", async () => {
  const port = await listening(createPlainServer());
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  expect(await problemOf(call({ url: `http://127.0.0.1:${port}` }))).toMatch(/^Unreachable: .*ECONNREFUSED/);
});

it("gives up at once when a server switches to another protocol, hangs up without an answer, or the URL is none", async () => {
  const upgrading = await listening(
    createPlainServer((request) => {
      request.socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
    }),
  );
  expect(await problemOf(call({ url: `http://127.0.0.1:${upgrading}/` }))).toBe("Unreachable: the server switches to another protocol");
  const silent = await listening(createPlainServer((request) => void request.socket.destroy()));
  expect(await problemOf(call({ url: `http://127.0.0.1:${silent}/` }))).toMatch(/^Unreachable: /);
  expect(await problemOf(call({ url: "http://10.96.0.09:80/" }))).toBe("Unreachable: the URL has no host that can be called");
});
