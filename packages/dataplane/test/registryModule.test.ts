import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { imageReferenceOf } from "../src/wasm/imageReference.ts";
import { fetchRegistryModule, type RegistryUser } from "../src/wasm/registryModule.ts";

const MODULE = new Uint8Array([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const WASM = "application/vnd.module.wasm.content.layer.v1+wasm";
const digestOf = (bytes: Uint8Array | string) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const layer = { mediaType: WASM, digest: digestOf(MODULE), size: MODULE.length };

let servers: Server[] = [];

afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
});

interface Registry {
  readonly host: string;
  readonly manifest: string;
  /** What it was asked, with how the asker introduced itself. */
  readonly asked: readonly string[];
}

/** A registry with one image, `filters/header:v1`. */
async function registry({ layers = [layer] as readonly object[], blob = MODULE, users = "", hangs = false } = {}): Promise<Registry> {
  const manifest = JSON.stringify({ schemaVersion: 2, layers });
  const asked: string[] = [];
  const store = await listen((url, authorization, respond) => {
    asked.push(`store ${url} ${authorization}`);
    respond(200, blob);
  });
  const host = await listen((url, authorization, respond) => {
    asked.push(`${url} ${authorization}`);
    if (hangs) return;
    if (url.startsWith("/token")) {
      if (users !== "" && authorization !== `Basic ${Buffer.from(users).toString("base64")}`) respond(401, "no");
      else respond(200, JSON.stringify({ token: "t0ken" }));
    } else if (users !== "" && authorization !== "Bearer t0ken") {
      const challenge = `Bearer realm="http://${host}/token",service="registry",scope="repository:everything:*"`;
      respond(401, "", { "www-authenticate": challenge });
    } else if (url === "/v2/filters/header/manifests/v1" || url.startsWith("/v2/filters/header/manifests/sha256:")) respond(200, manifest);
    else if (url.startsWith("/v2/filters/header/blobs/")) respond(307, "", { location: `http://${store}/data` });
    else respond(404, "");
  });
  return { host, manifest, asked };
}

type Respond = (status: number, body: string | Uint8Array, headers?: Record<string, string>) => void;

async function listen(serve: (url: string, authorization: string, respond: Respond) => void): Promise<string> {
  const server = createServer(({ url = "", headers }, response) => {
    serve(url, headers.authorization ?? "-", (status, body, more = {}) => response.writeHead(status, more).end(body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function fetched(
  { host }: Registry,
  version = ":v1",
  { user, timeoutMs = 30_000 }: { user?: RegistryUser; timeoutMs?: number } = {},
) {
  const options = { allowance: { loopback: true }, insecure: new Set([host]), timeoutMs, ...(user === undefined ? {} : { user }) };
  try {
    const { bytes, digest } = await fetchRegistryModule(`${host}/filters/header${version}`, options, new AbortController().signal);
    return `${bytes.length} bytes of ${digest}`;
  } catch (error) {
    return String(error);
  }
}

describe("a module in a registry", () => {
  it("is fetched by its tag, of which the digest is recorded, or by that digest", async () => {
    const one = await registry();
    const digest = digestOf(one.manifest);
    expect(await fetched(one)).toBe(`8 bytes of ${digest}`);
    expect(await fetched(one, `@${digest}`)).toBe(`8 bytes of ${digest}`);
    expect(await fetched(one, `:v1@${digest}`)).toBe(`8 bytes of ${digest}`);
    expect(await fetched(one, ":v2")).toContain("/v2/filters/header/manifests/v2: answered with status 404");
  });

  it("is fetched with a token for this repository alone, which the store of its layers does not see", async () => {
    const one = await registry({ users: "robot:s3cret" });
    expect(await fetched(one, ":v1", { user: { username: "robot", password: "s3cret" } })).toContain("8 bytes of sha256:");
    expect(one.asked[1]).toContain("/token?service=registry&scope=repository%3Afilters%2Fheader%3Apull Basic ");
    expect(one.asked.at(-1)).toBe("store /data -");
    const wrong = await fetched(one, ":v1", { user: { username: "robot", password: "other" } });
    expect(wrong).toContain("access is denied (status 401): check the pull secret");
    expect(wrong).not.toContain("other");
    expect(await fetched(one)).toContain("access is denied");
  });

  it("sends no password by http to another host than the registry", async () => {
    const seen: string[] = [];
    const other = await listen((_, authorization, respond) => {
      seen.push(authorization);
      respond(200, "{}");
    });
    const host = await listen((_url, _authorization, respond) => {
      respond(401, "", { "www-authenticate": `Bearer realm="http://${other}/token"` });
    });
    const user = { username: "robot", password: "s3cret" };
    expect(await fetched({ host, manifest: "", asked: [] }, ":v1", { user })).toContain("tokens are only asked for by https");
    expect(seen).toEqual([]);
  });

  it("is not what has another digest, of its manifest or its layer", async () => {
    expect(await fetched(await registry(), `@${digestOf("other")}`)).toContain("than the expected one");
    expect(await fetched(await registry({ blob: new Uint8Array([0, 97, 115, 109, 9]) }))).toContain("than the expected one");
  });

  it.each([
    ["no layer of its type", [{ ...layer, mediaType: "application/vnd.oci.image.layer.v1.tar+gzip" }], "exactly one layer"],
    ["two", [layer, layer], "exactly one layer"],
    ["a layer without a digest", [{ mediaType: WASM, digest: "../../secret" }], "exactly one layer"],
    ["100 MB", [{ ...layer, size: 100_000_000 }], "the module has 100000000 bytes, more than 16777216"],
  ])("is refused with %s", async (_, layers, message) => {
    const one = await registry({ layers });
    expect(await fetched(one)).toContain(message);
    expect(one.asked.filter((url) => url.includes("blobs"))).toEqual([]);
  });

  it("is given up when the registry hangs, and never fetched by http unless that is allowed", async () => {
    const one = await registry({ hangs: true });
    expect(await fetched(one, ":v1", { timeoutMs: 200 })).toContain("has not answered within 0.2 s");
    const byTls = fetchRegistryModule(`${one.host}/filters/header:v1`, { allowance: { loopback: true } }, new AbortController().signal);
    await expect(byTls).rejects.toThrow(/^https:/);
  });
});

describe("a reference of an image", () => {
  it("has a host, a repository, and a tag or a digest", () => {
    const digest = `sha256:${"a".repeat(64)}`;
    expect(imageReferenceOf("example.test:5000/a/b-c:v1")).toEqual({ registry: "example.test:5000", repository: "a/b-c", version: "v1" });
    expect(imageReferenceOf("example.test/a")).toEqual({ registry: "example.test", repository: "a", version: "latest" });
    expect(imageReferenceOf(`localhost/a:v1@${digest}`)).toEqual({ registry: "localhost", repository: "a", version: digest });
  });

  it.each([
    "",
    "a",
    "filters/header:v1",
    "example.test/",
    "example.test/../x",
    "example.test/a?x=1",
    "example.test/a@sha256:12",
    "u:p@example.test/a",
  ])("is not %s", (text) => {
    expect(imageReferenceOf(text)).toBeUndefined();
  });
});
