import type { ServerResponse } from "node:http";
import { MAX_DEPTH } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { ConfigMap, configMap } from "./configMap.ts";
import { answer, type Script } from "./scriptedApiServer.ts";
import { clusterAt, clusterThat, errorOf, serve } from "./scriptedCluster.ts";

const never = new AbortController().signal;
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const deep = (name: string, levels: number) =>
  JSON.stringify({ ...configMap(name, "2"), status: { state: "kept" } }).replace('"data":{}', `"data":${nested(levels)}`);

/** Answers the path of ConfigMaps. */
function configMaps(script: (response: ServerResponse, request: Parameters<Script>[0]) => true): Script {
  return (request, response) => (request.path.startsWith("/api/v1/configmaps") ? script(response, request) : false);
}

function sent(response: ServerResponse, text: string): true {
  response.writeHead(200, { "content-type": "application/json" }).end(text);
  return true;
}

/** Writes for as long as somebody reads, and says how much that was. */
function endless(response: ServerResponse, chunk: string): { bytes: number } {
  const written = { bytes: 0 };
  const more = () => {
    while (!response.destroyed) {
      written.bytes += chunk.length;
      if (!response.write(chunk)) break;
    }
  };
  response.on("drain", more);
  response.on("error", () => undefined);
  more();
  return written;
}

async function first(cluster: Awaited<ReturnType<typeof clusterThat>>) {
  for await (const event of cluster.watch(ConfigMap, "1", {}, never)) return event;
  return undefined;
}

describe("an object that is nested too deeply", () => {
  const message = `is nested deeper than ${MAX_DEPTH} levels`;

  it("is malformed in a list, with its status, and the others are read", async () => {
    const items = [deep("deep", 9_000), deep("shallow", 5)].join(",");
    const cluster = await clusterThat(configMaps((response) => sent(response, `{"items":[${items}],"metadata":{"resourceVersion":"2"}}`)));
    const { items: read, malformed } = await cluster.list(ConfigMap);
    expect(read.map(({ metadata }) => metadata.name)).toEqual(["shallow"]);
    expect(malformed).toEqual([
      { ref: expect.objectContaining({ name: "deep" }), message: expect.stringContaining(message), status: { state: "kept" } },
    ]);
  });

  it("is malformed in a watch", async () => {
    const cluster = await clusterThat(configMaps((response) => sent(response, `{"type":"ADDED","object":${deep("deep", 9_000)}}\n`)));
    expect(await first(cluster)).toMatchObject({ type: "malformed", malformed: { ref: { name: "deep" } } });
  });

  it("is refused where it is asked for", async () => {
    const cluster = await clusterThat(({ path }, response) =>
      path.endsWith("/configmaps/deep") ? sent(response, deep("deep", 9_000)) : false,
    );
    const error = await errorOf(cluster.get(ConfigMap, { name: "deep", namespace: "default" }));
    expect([error.code, error.message]).toEqual(["Invalid", expect.stringContaining(message)]);
  });

  it("takes nothing with it when what is kept of it can't be made", async () => {
    const cluster = await clusterThat(
      configMaps((response) => answer(response, 200, { items: [configMap("bad", "1"), configMap("good", "2")], metadata: {} })),
    );
    const { items, malformed } = await cluster.list(ConfigMap, {
      transform(resource) {
        if (resource.metadata.name === "bad") throw new RangeError("Maximum call stack size exceeded");
        return resource;
      },
    });
    expect([items.map(({ metadata }) => metadata.name), malformed.map(({ ref }) => ref.name)]).toEqual([["good"], ["bad"]]);
  });
});

describe("an answer without end", () => {
  it.each([
    ["a list", (cluster: Awaited<ReturnType<typeof clusterThat>>) => cluster.list(ConfigMap), 2 * 64],
    ["an object", (cluster: Awaited<ReturnType<typeof clusterThat>>) => cluster.get(ConfigMap, { name: "x", namespace: "d" }), 16],
    ["a line of a watch", first, 16],
  ])("is read as far as a limit: %s", async (_, ask, mebibytes) => {
    const seen: { bytes: number }[] = [];
    const cluster = await clusterThat(({ path }, response) => {
      if (!path.includes("/configmaps")) return false;
      response.writeHead(200);
      seen.push(endless(response, `{"items":[${"x".repeat(1_000_000)}`));
      return true;
    });
    const error = await errorOf(ask(cluster));
    expect([error.code, error.message]).toEqual(["Unavailable", expect.stringMatching(/larger than \d+ MiB/)]);
    // And what sockets hold.
    expect(seen.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan((mebibytes + 32) * 1024 * 1024);
  });

  it("that refuses is read as far as a sentence needs", async () => {
    const cluster = await clusterThat(({ path }, response) => {
      if (!path.includes("/configmaps")) return false;
      response.writeHead(500);
      endless(response, "no ".repeat(100_000));
      return true;
    });
    const { message } = await errorOf(cluster.list(ConfigMap));
    expect(message.length).toBeLessThan(400);
  });

  it("of pages is given up", async () => {
    const cluster = await clusterThat(configMaps((response) => answer(response, 200, { items: [], metadata: { continue: "again" } })));
    expect((await errorOf(cluster.list(ConfigMap))).message).toContain("never ends the list of configmaps");
  });

  it("is asked for in smaller pages where a page is too large", async () => {
    const server = await serve(
      configMaps((response, { query }) => {
        if (query["limit"] === "10") return answer(response, 200, { items: [configMap("good", "2")], metadata: { resourceVersion: "2" } });
        response.writeHead(200);
        endless(response, `{"items":[${"x".repeat(1_000_000)}`);
        return true;
      }),
    );
    const { items } = await clusterAt(server).list(ConfigMap);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["good"]);
  });
});

// In standard mode the API server is the one who a Secret names.
describe("what is no Kubernetes API", () => {
  const hostile = { toString: 1, valueOf: 1 };
  const values: readonly unknown[] = [null, 5, "x", [], [null], {}, hostile, [hostile], { length: 3 }];

  it("is unavailable, whatever it answers, and never our fault", async () => {
    for (const value of values) {
      const bodies: readonly unknown[] = [
        value,
        { items: value },
        { items: [value] },
        { items: [{ metadata: value }] },
        { items: [{ metadata: { name: value } }] },
        { items: [{ metadata: { name: "x", namespace: value } }] },
        { items: [{ metadata: { name: "x" }, kind: value }] },
        { items: [], metadata: { continue: value } },
        { items: [], metadata: value },
        { type: value, object: value },
        { type: "ERROR", object: { message: value, details: value, code: value } },
        { type: "ERROR", object: { message: "m", details: { causes: [value], retryAfterSeconds: value } } },
        { type: "ADDED", object: { metadata: { name: value, resourceVersion: "2" } } },
        { type: "ADDED", object: { metadata: { name: "x", resourceVersion: value } } },
        { type: "DELETED", object: { metadata: { name: "x", namespace: value, resourceVersion: "2" } } },
        { kind: "Status", message: value, reason: value, details: { causes: value, kind: value } },
      ];
      for (const body of bodies) {
        for (const status of [200, 500]) {
          const cluster = await clusterThat(({ path }, response) => path.includes("/configmaps") && answer(response, status, body));
          await acceptable(cluster.list(ConfigMap));
          await acceptable(cluster.get(ConfigMap, { name: "x", namespace: "d" }));
          await acceptable(first(cluster));
          await acceptable(cluster.apply(configMap("x", "1"), { fieldManager: "test" }));
        }
      }
    }
  });

  it("is unavailable where it should list its kinds", async () => {
    for (const value of values) {
      const bodies: readonly unknown[] = [
        value,
        { kind: "APIGroupDiscoveryList", items: value },
        { kind: "APIGroupDiscoveryList", items: [{ metadata: value, versions: value }] },
        { kind: "APIGroupDiscoveryList", items: [{ versions: [{ version: value, resources: value }] }] },
        {
          kind: "APIGroupDiscoveryList",
          items: [{ versions: [{ version: "v1", resources: [{ resource: value, responseKind: { kind: value } }] }] }],
        },
        { versions: value, groups: value },
        { groups: [{ versions: value }] },
        { versions: ["v1"], resources: value },
        { versions: ["v1"], resources: [{ name: value, kind: value }] },
      ];
      for (const body of bodies) {
        const cluster = await clusterThat(({ path }, response) => path.startsWith("/api") && answer(response, 200, body));
        await acceptable(cluster.servedKinds());
        await acceptable(cluster.list(ConfigMap));
      }
    }
  });

  it("does not make us wait for ever, nor compare numbers of a million digits", async () => {
    const cluster = await clusterThat(configMaps((response) => answer(response, 429, { kind: "Status" }, { "retry-after": "1e300" })));
    expect((await errorOf(cluster.list(ConfigMap))).details.retryAfterMs).toBe(300_000);
    const digits = "1".repeat(1_000_000);
    const silent = await clusterThat(
      configMaps((response, { query }) =>
        query["watch"] === undefined ? answer(response, 200, { metadata: { resourceVersion: digits }, items: [] }) : sent(response, ""),
      ),
      {
        now: (() => {
          let time = 0;
          return () => (time += 2_000);
        })(),
      },
    );
    expect(await first(silent)).toBeUndefined();
  });

  /** A result, or an error of the world. */
  async function acceptable(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => expect(error).toBeInstanceOf(ClusterError));
  }
});
