import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createRoot, issueServerCertificate } from "@isthmus/certificates";
import { fetchSchema } from "@isthmus/plane";
import { afterEach, expect, it } from "vitest";
import { httpClient } from "../src/httpClient.ts";

const servers: (Server | SecureServer)[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** What becomes of a document that is served like this: the document, or the reason and the message. */
async function read(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fetchSchema(httpClient, { url: "http://reviews:9080/openapi", address }, new AbortController().signal).catch(
    (error: { readonly reason?: string; readonly message: string }) => `${error.reason}: ${error.message}`,
  );
}

const document = '{"openapi":"3.0.0","info":{},"paths":{}}';

it("asks the given address for the path, under the name of the Service, and without credentials", async () => {
  const seen: unknown[] = [];
  const text = await read(({ method, url, headers }, response) => {
    const { host, connection: _, ...rest } = headers;
    seen.push(method, url, host, Object.keys(rest));
    response.end(document);
  });
  expect(text).toBe(document);
  expect(seen).toEqual(["GET", "/openapi", "reviews:9080", ["accept"]]);
});

it("reads YAML as well", async () => {
  expect(await read((_, response) => void response.end("openapi: 3.0.0\ninfo: {}\npaths: {}\n"))).toBe(document);
});

it("follows redirects of the Service to itself", async () => {
  const paths: unknown[] = [];
  const text = await read(({ url }, response) => {
    paths.push(url);
    if (url === "/openapi") return void response.writeHead(302, { location: "v3/" }).end();
    if (url === "/v3/") return void response.writeHead(308, { location: "http://reviews:9080/v3/api.json" }).end();
    response.end(document);
  });
  expect(text).toBe(document);
  expect(paths).toEqual(["/openapi", "/v3/", "/v3/api.json"]);
});

it("gives up a redirect that loops", async () => {
  let count = 0;
  expect(await read((_, response) => void response.writeHead(302, { location: `/${++count}` }).end())).toMatch(
    /^RedirectRefused: .*more than 3/,
  );
  expect(count).toBe(4);
});

it.each([
  "http://169.254.169.254/latest",
  "http://ratings:9080/",
  "http://reviews:9081/",
  "https://reviews:9080/",
  "//ratings:9080/",
  "http://a:b@reviews:9080/",
  "",
])("does not follow a redirect to %j", async (location) => {
  let count = 0;
  const text = await read((_, response) => {
    count++;
    response.writeHead(302, location === "" ? {} : { location }).end();
  });
  expect(text).toMatch(/^RedirectRefused: /);
  expect(count).toBe(1);
});

it("stops reading a document that is longer than it may be", async () => {
  let sent = 0;
  const text = await read((_, response) => {
    const chunk = Buffer.alloc(64 * 1024, "a");
    const more = () => {
      for (sent += chunk.length; sent < 2 ** 30 && response.write(chunk); sent += chunk.length);
    };
    response.on("drain", more);
    more();
  });
  expect(text).toMatch(/^TooLarge: .*1024 KiB: serve a shorter one/);
  expect(sent).toBeLessThan(2 ** 26);
});

it("names the status, and what to do about it", async () => {
  expect(await read((_, response) => void response.writeHead(503).end(document))).toMatch(/^ServerError: .*503/);
  expect(await read((_, response) => void response.writeHead(401).end(document))).toMatch(/^UnexpectedStatus: .*401.*without logging in/);
  expect(await read((_, response) => void response.writeHead(204).end())).toMatch(/^UnexpectedStatus: .*204/);
});

it("says what cannot be called, or is cut off", async () => {
  expect(await read(({ socket }) => void socket.destroy())).toMatch(/^Unreachable: .*NetworkPolicies/);
  const cut = await read(
    (_, response) => void response.writeHead(200, { "content-length": "100" }).write("{", () => response.socket?.destroy()),
  );
  expect(cut).toMatch(/^Unreachable: /);
});

/** The same by https, from a server with a certificate for `name`; `isNamed`: whether its CA is given. */
async function readSecured(
  name: string,
  { isNamed = true, answer = ((_, response) => response.end(document)) as RequestListener } = {},
): Promise<string> {
  const root = await createRoot({ commonName: "root", now: Date.now() });
  const { certificate, key } = await issueServerCertificate(root, { dnsNames: [name], now: Date.now() });
  const server = createSecureServer({ cert: certificate, key }, answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = { url: "https://reviews.shop.svc:9443/openapi", address, ...(isNamed ? { roots: root.certificate } : {}) };
  return fetchSchema(httpClient, target, new AbortController().signal).catch(
    (error: { readonly reason?: string; readonly message: string }) => `${error.reason}: ${error.message}`,
  );
}

it("reads https at the address, from a server with a certificate for the name in the URL", async () => {
  const seen: unknown[] = [];
  const answer: RequestListener = ({ url, headers }, response) => {
    seen.push(url, headers.host);
    response.end(document);
  };
  expect(await readSecured("reviews.shop.svc", { answer })).toBe(document);
  expect(seen).toEqual(["/openapi", "reviews.shop.svc:9443"]);
});

it("asks nothing by https of a server whose certificate is for another name, or below no CA that counts", async () => {
  let requests = 0;
  const answer: RequestListener = (_, response) => {
    requests += 1;
    response.end(document);
  };
  expect(await readSecured("ratings.shop.svc", { answer })).toMatch(/^Untrusted: .*valid for reviews.shop.svc/);
  expect(await readSecured("reviews.shop.svc", { isNamed: false, answer })).toMatch(/^Untrusted: .*isthmus.mesh\/schema-ca/);
  expect(requests).toBe(0);
});

it("does not follow a redirect from https to http", async () => {
  const answer: RequestListener = (_, response) => response.writeHead(302, { location: "http://reviews.shop.svc:9443/openapi" }).end();
  expect(await readSecured("reviews.shop.svc", { answer })).toMatch(/^RedirectRefused/);
});
