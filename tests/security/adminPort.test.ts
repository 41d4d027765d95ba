import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { kubernetesAuthorizer, loadKubeconfig } from "@isthmus/kubernetes";
import { systemClock } from "@isthmus/plane";
import { type AdminOptions, startAdmin } from "@isthmus/process";
import { createServerIdentity } from "@isthmus/relay";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "./harness/replicas.ts";

const AUDIENCE = "gloo-mesh-admin";
const NAME = "gloo-mesh-mgmt-server.gloo-mesh";
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Review {
  readonly spec: { readonly token?: string; readonly audiences?: readonly string[] };
}

/** The kubeconfig of an API server that reviews tokens as a real one does: one for the API server, one made for the admin port, and one whose server knows no audiences. */
async function reviewingApiServer(): Promise<string> {
  const api = createHttpServer(async (request, response) => {
    const { spec } = (await json(request)) as Review;
    const audiences = spec.audiences ?? ["https://kubernetes.default.svc"];
    const known: Readonly<Record<string, readonly string[] | undefined>> = {
      "for-the-api-server": audiences.filter((one) => one === "https://kubernetes.default.svc"),
      "for-the-admin-port": audiences.filter((one) => one === AUDIENCE),
      "of-an-older-api-server": undefined,
    };
    const { token = "" } = spec;
    const isKnown = Object.hasOwn(known, token) && known[token]?.length !== 0;
    const user = { username: "reader" };
    const review = isKnown ? { authenticated: true, user, audiences: known[token] } : { error: "token audiences are invalid" };
    response
      .writeHead(201, { "content-type": "application/json" })
      .end(JSON.stringify({ status: request.url?.includes("tokenreviews") ? review : { allowed: true } }));
  }).listen(0, "127.0.0.1");
  await once(api, "listening");
  closing.push(() => api.close().closeAllConnections());
  const cluster = { server: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, "insecure-skip-tls-verify": true };
  const directory = mkdtempSync(join(tmpdir(), "isthmus-admin-api-"));
  closing.push(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "kubeconfig");
  const kubeconfig = {
    "current-context": "c",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "c", user: { token: "t" } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
  };
  writeFileSync(path, JSON.stringify(kubeconfig));
  return path;
}

async function served(options: Partial<AdminOptions> = {}): Promise<number> {
  const { authorize } = kubernetesAuthorizer({ kubeconfig: loadKubeconfig({ path: await reviewingApiServer() }), clock: systemClock });
  const admin = await startAdmin({
    host: "127.0.0.1",
    port: 0,
    isReady: () => true,
    metrics: { contentType: "text/plain", text: async () => "" },
    pages: { "/evidence": () => ["{}"] },
    authorize,
    ...options,
  });
  closing.push(() => admin.close());
  return admin.port;
}

/** As through a proxy, which counts as from elsewhere. */
const elsewhere = (token: string) => ({ "x-forwarded-for": "10.1.2.3", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) });

async function answerTo(port: number, token: string, ca?: string): Promise<readonly [number | undefined, string]> {
  const options = { host: "127.0.0.1", port, path: "/evidence", headers: elsewhere(token) };
  const outgoing = ca === undefined ? httpRequest(options) : httpsRequest({ ...options, ca, servername: NAME, agent: false });
  const [response] = (await once(outgoing.end(), "response")) as [IncomingMessage];
  return [response.statusCode, await text(response)];
}

describe("over plain HTTP, where tokens can be read on the way", () => {
  test("a token counts that was made for the admin port, and no token for the API server", async () => {
    const port = await served();
    expect(await answerTo(port, "for-the-admin-port")).toEqual([200, "{}"]);
    for (const token of ["for-the-api-server", "of-an-older-api-server", "nobody's"]) {
      expect(await answerTo(port, token), token).toEqual([
        401,
        expect.stringContaining(`kubectl create token NAME --audience=${AUDIENCE}`),
      ]);
    }
    expect(await answerTo(port, "")).toEqual([401, expect.stringContaining(`--audience=${AUDIENCE}`)]);
  });
});

describe("over TLS", () => {
  let directory: string;
  const files = () => ({ certificate: join(directory, "tls.crt"), key: join(directory, "tls.key"), option: "--admin-tls" });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "isthmus-admin-"));
    closing.push(() => rmSync(directory, { recursive: true }));
  });

  async function write(): Promise<string> {
    const { root, server } = await createServerIdentity({ now: Date.now() });
    writeFileSync(files().certificate, server.certificate);
    writeFileSync(files().key, server.key);
    return root;
  }

  test("ordinary tokens count too, and plain HTTP is not answered any more", async () => {
    const root = await write();
    const port = await served({ tls: files() });
    for (const token of ["for-the-admin-port", "for-the-api-server", "of-an-older-api-server"]) {
      expect(await answerTo(port, token, root), token).toEqual([200, "{}"]);
    }
    expect((await answerTo(port, "nobody's", root))[0]).toBe(401);
    await expect(answerTo(port, "for-the-admin-port")).rejects.toThrow();
  });

  test("certificates that change on disk count soon, and files that are broken for a moment change nothing", async () => {
    const first = await write();
    const port = await served({ tls: { ...files(), checkMs: 20 } });
    expect((await answerTo(port, "for-the-admin-port", first))[0]).toBe(200);
    const second = await write();
    await until(
      async () => (await answerTo(port, "for-the-admin-port", second).catch(() => [0]))[0] === 200,
      "the new certificate is shown",
    );
    writeFileSync(files().certificate, "half a certif");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await answerTo(port, "for-the-admin-port", second))[0]).toBe(200);
  });

  test("files that cannot be used are said at the start", async () => {
    await expect(served({ tls: files() })).rejects.toThrow(/--admin-tls-cert .*tls\.crt/);
    await write();
    writeFileSync(files().key, "no key");
    await expect(served({ tls: files() })).rejects.toThrow(/--admin-tls-key/);
  });
});

describe("connections that only take room", () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  function open(port: number, sent: string, localAddress = "127.0.0.1"): Socket {
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(sent);
    return socket;
  }
  const gone = () => sockets.filter((socket) => socket.closed).length;

  test("end when their request does not come, or comes byte by byte", async () => {
    const port = await served({ requestMs: 300 });
    const slow = open(port, "GET /healthz HTTP/1.1\r\n");
    const dripping = setInterval(() => slow.write("X-A: b\r\n"), 50);
    closing.push(() => clearInterval(dripping));
    open(port, "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
    open(port, "");
    await until(() => gone() === 3, "all three are ended");
  });

  test("of one address are few, and leave room for others", async () => {
    const port = await served();
    for (let i = 0; i < 200; i++) open(port, "GET /healthz HTTP/1.1\r\n", "127.0.0.2");
    await until(() => gone() >= 200 - 64, "what is too much is ended");
    expect(gone()).toBe(200 - 64);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  test("make room for new ones when there are many in all", async () => {
    const port = await served({ maxConnections: 50 });
    for (let i = 0; i < 60; i++) open(port, "GET /healthz HTTP/1.1\r\n", `127.0.0.${2 + i}`);
    await until(() => gone() >= 10, "the oldest are ended");
    for (let i = 0; i < 5; i++) expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  test("may not send a large request", async () => {
    const port = await served();
    const socket = open(port, `GET /healthz?${"x".repeat(64 * 1024)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    let answer = "";
    socket.on("data", (data: Buffer) => {
      answer += data.toString();
    });
    await until(() => socket.closed, "it is ended");
    expect(answer).toMatch(/^HTTP\/1\.1 431/);
  });
});
