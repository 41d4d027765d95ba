import { createHash } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { addressProblem } from "../src/moduleAddress.ts";
import { fetchHttpModule } from "../src/wasm/modules.ts";

const MODULE = new Uint8Array([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const never = new AbortController().signal;

let servers: Server[] = [];

afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
});

/** Serves on loopback; gives its origin. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What is fetched, or why it is not. */
async function fetched(uri: string, { hash = sha256(MODULE), loopback = true, timeoutMs = 30_000 } = {}): Promise<string> {
  try {
    const bytes = await fetchHttpModule({ uri, sha256: hash }, { allowance: { loopback }, timeoutMs }, never);
    return `${bytes.length} bytes`;
  } catch (error) {
    return String(error);
  }
}

describe("a module on an HTTP server", () => {
  it("is fetched if it has the expected SHA-256, through three redirects", async () => {
    const origin = await serve(({ url = "" }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end(MODULE);
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect(await fetched(`${origin}/0`)).toBe("8 bytes");
    expect(await fetched(`${origin}/3`, { hash: sha256(MODULE).toUpperCase() })).toBe("8 bytes");
    expect(await fetched(`${origin}/4`)).toBe(`ModuleUnavailable: ${origin}/4: more than 3 redirects`);
    // What an address answers is nothing that its digest tells the user who named it.
    const other = await fetched(`${origin}/0`, { hash: sha256(new Uint8Array()) });
    expect(other).toContain("has another SHA-256 than the expected one");
    expect(other).not.toContain(sha256(MODULE));
  });

  it("is not what is no module, and not what comes with an error", async () => {
    const page = new TextEncoder().encode("<html>");
    const origin = await serve(({ url }, response) => response.writeHead(url?.startsWith("/gone") ? 404 : 200).end(page));
    expect(await fetched(`${origin}/page`, { hash: sha256(page) })).toContain("is not a WebAssembly module");
    expect(await fetched(`${origin}/gone?token=s3cret`)).toBe(`ModuleUnavailable: ${origin}/gone: answered with status 404`);
  });

  it("has 16 MiB at most, whatever the server says of its length, and no more is read", async () => {
    const part = new Uint8Array(1024 * 1024);
    let sent = 0;
    const origin = await serve(({ url }, response) => {
      if (url === "/declared") {
        response.writeHead(200, { "content-length": 100 * part.length }).write(part);
        return;
      }
      const more = () => {
        while (sent < 100) {
          sent += 1;
          if (!response.write(part)) {
            response.once("drain", more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    expect(await fetched(`${origin}/endless`)).toContain("the answer has more than 16777216 bytes");
    expect(sent).toBeLessThan(100);
    expect(await fetched(`${origin}/declared`)).toContain("the answer has more than 16777216 bytes");
  });

  it("of a server that hangs, or sends byte after byte, is given up in time", async () => {
    const timers: NodeJS.Timeout[] = [];
    const origin = await serve(({ url }, response) => {
      if (url === "/slow") timers.push(setInterval(() => response.write("x"), 20));
    });
    expect(await fetched(`${origin}/hangs`, { timeoutMs: 200 })).toContain("has not answered within 0.2 s");
    expect(await fetched(`${origin}/slow`, { timeoutMs: 300 })).toContain("has not answered within 0.3 s");
    for (const timer of timers) clearInterval(timer);
  });

  it("is not fetched from this machine or its link, by address, name or redirect", async () => {
    let asked = 0;
    const origin = await serve((_, response) => {
      asked += 1;
      response.end(MODULE);
    });
    const { port } = new URL(origin);
    const local = { loopback: false };
    expect(await fetched(origin, local)).toContain("127.0.0.1 is an address of this machine");
    expect(await fetched(`http://localhost:${port}/`, local)).toContain("is an address of this machine");
    expect(await fetched(`http://2130706433:${port}/`, local)).toContain("127.0.0.1 is an address of this machine");
    expect(await fetched(`http://[::ffff:127.0.0.1]:${port}/`, local)).toContain("is an address of this machine");
    expect(asked).toBe(0);
    const toFile = await serve((_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end());
    expect(await fetched(toFile)).toContain("is redirected to another host");
  });

  it("is not fetched from another host than the URI names", async () => {
    let asked = 0;
    const elsewhere = await serve((_, response) => {
      asked += 1;
      response.end(MODULE);
    });
    const redirecting = await serve((_, response) => response.writeHead(302, { location: elsewhere }).end());
    expect(await fetched(redirecting)).toBe(
      `ModuleUnavailable: ${redirecting}/: is redirected to another host, which is not asked: name ${new URL(elsewhere).host} in the URI if the module is there`,
    );
    expect(asked).toBe(0);
  });

  it("is fetched from a private network only where the operator names the host", () => {
    const privates = ["10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.1.2.3"];
    for (const address of privates) {
      expect(addressProblem(address, { privateHosts: new Set() })).toContain("is an address of a private network");
      expect(addressProblem(address, { privateHosts: new Set(["modules.example"]) }, "modules.example")).toBeUndefined();
      expect(addressProblem(address, { privateHosts: new Set(["modules.example"]) }, "other.example")).toContain("private network");
      expect(addressProblem(address)).toBeUndefined();
    }
    expect(addressProblem("203.0.113.7", { privateHosts: new Set() })).toBeUndefined();
    expect(addressProblem("169.254.169.254", { privateHosts: new Set(["modules.example"]) }, "modules.example")).toContain(
      "not an address",
    );
  });

  it("is asked for without a user, and only by a URL", async () => {
    expect(await fetched("http://user:s3cret@example.test/x")).toBe(
      "ModuleUnavailable: http://example.test/x: a URI with a user or password is not supported",
    );
    expect(await fetched("filters/one.wasm")).toContain("the URI is no URL");
  });
});

describe("an address that modules are fetched from", () => {
  it.each(["10.0.0.7", "192.168.1.1", "93.184.215.14", "fd12::1", "2001:db8::1", "::ffff:10.0.0.7"])("may be %s", (address) => {
    expect(addressProblem(address)).toBeUndefined();
  });

  it.each([
    "127.0.0.1",
    "127.9.9.9",
    "::1",
    "::",
    "0.0.0.0",
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fe80::1",
    "fd00:ec2::254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "224.0.0.1",
    "100.100.100.200",
    "localhost",
  ])("is not %s", (address) => {
    expect(addressProblem(address)).toContain(address);
  });
});
