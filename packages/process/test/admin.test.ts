import { get } from "node:http";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { snapshotOf } from "@isthmus/core";
import { afterEach, describe, expect, it } from "vitest";
import { type AdminOptions, startAdmin } from "../src/admin.ts";
import type { Authorize } from "../src/adminAuthorizer.ts";
import { diagnosticsPage } from "../src/diagnostics.ts";
import { PageRefusal, type PostPage, type TypedPage, textPage } from "../src/pages.ts";
import { objectsIn, snapshotPage } from "../src/snapshotPage.ts";

const noMetrics = { contentType: "text/plain", text: async () => "" };

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((admin) => admin.close()));
});

async function served(options: Partial<AdminOptions> = {}): Promise<string> {
  const admin = await startAdmin({ host: "127.0.0.1", port: 0, isReady: () => true, metrics: noMetrics, ...options });
  running.push(admin);
  return `http://127.0.0.1:${admin.port}`;
}

function service(name: string, clusterName: string) {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName } };
}

const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", namespace: "shop", clusterName: "east" } };
const pages = {
  "/snapshots/input": snapshotPage(() => [
    ["clusters", objectsIn(snapshotOf([service("b", "west"), service("a", "east"), deployment]))],
    ["management", objectsIn(snapshotOf([{ apiVersion: "v1", kind: "Service", metadata: { name: "m", namespace: "shop" } }]))],
  ]),
};

async function namesAt(url: string): Promise<{ names: string[]; more: string | undefined }> {
  const { items, metadata } = (await (await fetch(url)).json()) as {
    items: { kind: string; metadata: { name: string } }[];
    metadata: { continue?: string };
  };
  return { names: items.map(({ kind, metadata: { name } }) => `${kind} ${name}`), more: metadata.continue };
}

describe("the admin port", () => {
  it("tells health, and readiness once there is something to serve", async () => {
    let ready = false;
    const url = await served({ isReady: () => ready });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    ready = true;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/anything`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`, { method: "POST" })).status).toBe(405);
  });

  it("says of a page what it is, and keeps pages below /metrics behind a token", async () => {
    const shown = { ...pages, "/metrics/mesh": textPage(() => ["a 1\n"]) };
    const url = await served({ pages: shown });
    const mesh = await fetch(`${url}/metrics/mesh`);
    expect([mesh.headers.get("content-type"), await mesh.text()]).toEqual(["text/plain; version=0.0.4; charset=utf-8", "a 1\n"]);
    const list = await fetch(`${url}/snapshots/input`);
    expect([list.headers.get("content-type"), (await list.text()).length > 0]).toEqual(["application/json", true]);
    // A request that a proxy passed on comes from elsewhere.
    const passedOn = await fetch(`${url}/metrics/mesh`, { headers: { "x-forwarded-for": "10.0.0.1" } });
    expect([passedOn.status, (await passedOn.text()).includes("a 1")]).toEqual([401, false]);
  });

  it("says which port is taken and what to do", async () => {
    const { port } = new URL(await served());
    await expect(served({ port: Number(port) })).rejects.toThrow(
      `port ${port} on 127.0.0.1 is already in use: set another with --admin-port`,
    );
  });

  it("shows snapshots as a list that kubectl and jq read, narrowed as asked", async () => {
    const url = `${await served({ pages })}/snapshots/input`;
    expect((await namesAt(url)).names).toEqual(["Service a", "Service b", "Deployment a", "Service m"]);
    expect((await namesAt(`${url}?cluster=east`)).names).toEqual(["Service a", "Deployment a"]);
    expect((await namesAt(`${url}?cluster=`)).names).toEqual(["Service m"]);
    expect((await namesAt(`${url}?kind=apps/Deployment`)).names).toEqual(["Deployment a"]);
    expect((await namesAt(`${url}?kind=Service&name=b`)).names).toEqual(["Service b"]);
  });

  it("pages through a snapshot, each object once", async () => {
    const url = `${await served({ pages })}/snapshots/input?limit=1`;
    const seen: string[] = [];
    let more: string | undefined = "";
    while (more !== undefined) {
      const page = await namesAt(`${url}&continue=${encodeURIComponent(more)}`);
      seen.push(...page.names);
      more = page.more;
    }
    expect(seen).toEqual(["Service a", "Service b", "Deployment a", "Service m"]);
  });

  it("makes no more of a page than its reader takes", async () => {
    let made = 0;
    function* endless(): Iterable<string> {
      for (;;) {
        made++;
        yield "x".repeat(1024);
      }
    }
    const url = await served({ pages: { "/endless": endless } });
    const response = await new Promise<{ pause(): void; destroy(): void }>((resolve) =>
      get(`${url}/endless`, (message) => {
        message.once("data", () => message.pause());
        resolve(message);
      }),
    );
    let before = -1;
    while (made !== before) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // What the sockets of both ends hold is a few MiB at most.
    expect(made).toBeLessThan(32 * 1024);
    response.destroy();
  });

  it("shows the event loop and the heap", async () => {
    const url = await served({ pages: { "/diagnostics": diagnosticsPage() } });
    const facts = (await (await fetch(`${url}/diagnostics`)).json()) as Record<string, Record<string, number>>;
    expect(facts["eventLoopDelayMs"]?.["p99"]).toBeGreaterThanOrEqual(0);
    expect(facts["memoryBytes"]?.["heapUsed"]).toBeGreaterThan(0);
  });
});

/** An address of this machine by which a request does not come from the loopback. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === "IPv4" && !address.internal)?.address;

describe("who may read snapshots", () => {
  const asked: unknown[] = [];
  const authorize: Authorize = async (question) => {
    asked.push(question);
    if (question.token === "reader") return { allowed: true };
    if (question.token === "broken") throw new Error("no answer");
    return { allowed: false, isKnown: question.token === "known", reason: "no" };
  };

  async function statusOf(headers: Record<string, string>): Promise<number> {
    const url = new URL(await served({ pages, authorize, host: outside ?? "127.0.0.1" }));
    return new Promise((resolve, reject) => {
      // Through a proxy, where this machine has no other address: that counts as from outside too.
      const passedOn = outside === undefined ? { "x-forwarded-for": "10.0.0.9" } : {};
      get({ host: outside ?? "127.0.0.1", port: url.port, path: "/snapshots/input", headers: { ...passedOn, ...headers } }, (response) => {
        void text(response).then(() => resolve(response.statusCode ?? 0));
      }).on("error", reject);
    });
  }

  it("needs a token that the Kubernetes API knows and that may get the path", async () => {
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ authorization: "Bearer unknown" })).toBe(401);
    expect(await statusOf({ authorization: "Bearer known" })).toBe(403);
    expect(await statusOf({ authorization: "Bearer broken" })).toBe(503);
    expect(await statusOf({ authorization: "Bearer reader" })).toBe(200);
    expect(asked.at(-1)).toEqual({ token: "reader", path: "/snapshots/input", audience: "gloo-mesh-admin", isEncrypted: false });
  });

  it.each([{ via: "1.1 proxy" }, { "x-forwarded-for": "127.0.0.1" }, { host: "rebound.example:9091" }])(
    "takes %o for a request from elsewhere, though it comes from this machine",
    async (headers) => {
      const url = new URL(await served({ pages, authorize }));
      const status = await new Promise((resolve, reject) => {
        get({ host: "127.0.0.1", port: url.port, path: "/snapshots/input", headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on("error", reject);
      });
      expect(status).toBe(401);
    },
  );
});

describe("pages with a part of the path as their parameter", () => {
  const schema: TypedPage = (query) => {
    const id = query.get("id") ?? "";
    if (id === "none") throw new PageRefusal(404, "there is none");
    return { contentType: "application/yaml", text: [`id: ${id}\n`] };
  };
  const parts = { "/v1/apis/{id}/schema": schema };

  it("are served with the type that they give, and no browser takes them for another", async () => {
    const response = await fetch(`${await served({ pages: parts })}/v1/apis/a%2Fb/schema?id=other`);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([200, "application/yaml", "id: a/b\n"]);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("are other pages where a part is missing, and refuse what they do not have", async () => {
    const url = await served({ pages: parts });
    for (const path of ["/v1/apis//schema", "/v1/apis/a/b/schema", "/v1/apis/%zz/schema", "/v1/apis/a", `/v1${"/a".repeat(2_000)}`])
      expect((await fetch(url + path)).status, path).toBe(404);
    const refused = await fetch(`${url}/v1/apis/none/schema`);
    expect([refused.status, await refused.text()]).toEqual([404, "there is none\n"]);
  });

  it("need a token for the very path", async () => {
    const asked: string[] = [];
    const authorize: Authorize = async ({ path }) => {
      asked.push(path);
      return { allowed: false, isKnown: true, reason: "no" };
    };
    const url = await served({ pages: parts, authorize });
    const headers = { "x-forwarded-for": "10.0.0.1" };
    expect((await fetch(`${url}/v1/apis/a/schema`, { headers })).status).toBe(401);
    expect((await fetch(`${url}/v1/apis/a/schema`, { headers: { ...headers, authorization: "Bearer x" } })).status).toBe(403);
    expect(asked).toEqual(["/v1/apis/a/schema"]);
  });
});

describe("pages that are asked by POST", () => {
  const echo: PostPage = async function* (query, content, signal) {
    yield `${query.get("a")} ${content}`;
    if (query.get("watch") === null) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    ended();
  };
  let ended: () => void = () => undefined;

  it("give what comes until the reader has gone", async () => {
    const url = await served({ posts: { "/logs": echo } });
    expect(await (await fetch(`${url}/logs?a=b`, { method: "POST", body: "c" })).text()).toBe("b c");
    const hasEnded = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const reader = new AbortController();
    const response = await fetch(`${url}/logs?a=b&watch=1`, { method: "POST", body: "c", signal: reader.signal });
    await response.body?.getReader().read();
    reader.abort();
    await hasEnded;
  });

  it("are refused to pages of other sites, without a token, by GET, and with more than they may be asked", async () => {
    const url = await served({ posts: { "/logs": echo }, authorize: async () => ({ allowed: true }) });
    const post = (init: RequestInit) => fetch(`${url}/logs`, { method: "POST", body: "{}", ...init });
    expect((await post({ headers: { origin: "https://example.com" } })).status).toBe(403);
    expect((await post({ headers: { "x-forwarded-for": "10.0.0.1" } })).status).toBe(401);
    expect((await fetch(`${url}/logs`)).status).toBe(404);
    expect((await post({ method: "PUT" })).status).toBe(405);
    expect((await post({ body: "x".repeat(70_000) })).status).toBe(400);
  });
});
