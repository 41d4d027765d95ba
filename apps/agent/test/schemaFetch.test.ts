import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fetchSchema } from "@isthmus/plane";
import { afterEach, expect, it } from "vitest";
import { httpClient } from "../src/httpClient.ts";

const servers: Server[] = [];
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
