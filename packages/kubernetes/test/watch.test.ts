import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster, WatchEvent } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { ConfigMap, configMap } from "./configMap.ts";
import { answer } from "./scriptedApiServer.ts";
import { clusterAt, clusterThat, errorOf, serve } from "./scriptedCluster.ts";

const never = new AbortController().signal;
/** A clock on which everything takes two seconds. */
const slow = (() => {
  let time = 0;
  return () => (time += 2_000);
})();

async function watched(cluster: Cluster, signal = never): Promise<WatchEvent<never>[]> {
  const events: WatchEvent<never>[] = [];
  for await (const event of cluster.watch(ConfigMap, "1", {}, signal)) events.push(event as WatchEvent<never>);
  return events;
}

describe("watches", () => {
  it("gives events as they come, however the bytes are cut", async () => {
    const lines = [
      { type: "ADDED", object: configMap("grün", "2") },
      { type: "MODIFIED", object: configMap("bad", "3", "no object") },
      { type: "DELETED", object: configMap("grün", "4") },
      { type: "BOOKMARK", object: { kind: "ConfigMap", metadata: { resourceVersion: "5" } } },
    ];
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const server = await serve(async ({ path }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      response.writeHead(200);
      for (let i = 0; i < bytes.length; i += 7) {
        response.write(bytes.subarray(i, i + 7));
        await sleep(0);
      }
      response.end('{"type":"ADDED","object":{"metadata":{"na');
    });
    const events = await watched(clusterAt(server));
    expect(events.map((event) => [event.type, "resource" in event ? event.resource.metadata.name : undefined])).toEqual([
      ["put", "grün"],
      ["malformed", undefined],
      ["removed", "grün"],
      ["bookmark", undefined],
    ]);
    expect(events.map((event) => ("resourceVersion" in event ? event.resourceVersion : ""))).toEqual(["2", "3", "4", "5"]);
    expect(server.seen.at(-1)?.query).toEqual({ watch: "1", resourceVersion: "1", allowWatchBookmarks: "true", timeoutSeconds: "300" });
  });

  it.each([
    ["an ERROR event", 200],
    ["a status", 410],
  ])("says Expired when the version is too old, by %s", async (_, status) => {
    const cluster = await clusterThat(({ path }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      const expired = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 1 (5)" };
      if (status === 410) return answer(response, 410, expired);
      response.writeHead(200).end(`${JSON.stringify({ type: "ERROR", object: expired })}\n`);
      return true;
    });
    expect(await errorOf(watched(cluster))).toMatchObject({ code: "Expired", message: expect.stringContaining("too old") });
  });

  it("ends without error when the server forgets to end it", async () => {
    const cluster = await clusterThat(
      ({ path, query }, response) => {
        if (path !== "/api/v1/configmaps") return false;
        if (query["watch"] === undefined) return answer(response, 200, { metadata: { resourceVersion: "1" }, items: [] });
        response.writeHead(200).flushHeaders();
        return true;
      },
      // A watch of 300 s.
      { watchGraceMs: 50 - 300_000, now: slow },
    );
    expect(await watched(cluster)).toEqual([]);
  });

  it("says Expired when a silent server turns out to be behind: it was restored from a backup", async () => {
    const cluster = await clusterThat(
      ({ path, query }, response) => {
        if (path !== "/api/v1/configmaps") return false;
        if (query["watch"] === undefined) return answer(response, 200, { metadata: { resourceVersion: "99" }, items: [] });
        response.writeHead(200).end();
        return true;
      },
      { now: slow },
    );
    const events = cluster.watch(ConfigMap, "1000", {}, never)[Symbol.asyncIterator]();
    expect(await errorOf(events.next())).toMatchObject({ code: "Expired", message: expect.stringContaining("restored from a backup") });
  });

  it("ends without error when the connection is lost after an event", async () => {
    const cluster = await clusterThat(({ path }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      response.writeHead(200).write(`${JSON.stringify({ type: "ADDED", object: configMap("a", "2") })}\n`, () => response.destroy());
      return true;
    });
    expect((await watched(cluster)).map(({ type }) => type)).toEqual(["put"]);
  });

  it("says Unavailable when a watch ends as soon as it begins, so that nobody asks in a circle", async () => {
    const cluster = await clusterThat(({ path }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      response.writeHead(200).end();
      return true;
    });
    expect(await errorOf(watched(cluster))).toMatchObject({ code: "Unavailable" });
  });

  it("rejects with the signal's reason", async () => {
    const stop = new AbortController();
    const cluster = await clusterThat(({ path }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      response.writeHead(200).flushHeaders();
      setTimeout(() => stop.abort(new Error("enough")), 20);
      return true;
    });
    await expect(watched(cluster, stop.signal)).rejects.toThrow("enough");
  });
});
