import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccessLogSink, type PodsAt, startAccessLogSink } from "@isthmus/dataplane";
import { systemClock } from "@isthmus/plane";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeReal } from "./harness/describeReal.ts";
import { freePorts } from "./harness/freePorts.ts";
import { type LoggingEnvoy, startLoggingEnvoy } from "./harness/loggingEnvoy.ts";
import { waitFor } from "./harness/waitFor.ts";

// A real Envoy with the access log that an AccessLogRecord configures, as a sidecar named by its node id, and the sink of an agent.
describeReal("a real Envoy's access log", ({ envoy }) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-real-access-logs-"));
  let sinkPort = 0;
  let proxy: LoggingEnvoy | undefined;
  let running: { readonly sink: AccessLogSink; stop(): Promise<void> } | undefined;

  async function startSink(): Promise<void> {
    const stopped = new AbortController();
    const sink = startAccessLogSink({ host: "127.0.0.1", port: sinkPort, podsAt, clock: systemClock, log: silent }, stopped.signal);
    await sink.listening;
    running = {
      sink,
      async stop() {
        stopped.abort(new Error("the sink is killed"));
        await sink.ended;
      },
    };
  }

  const request = async (path: string, count: number) => (await proxy?.request(path, count)) ?? [];
  const logged = (path: string) => (running?.sink.query({ limit: 500 }).entries ?? []).filter((entry) => entry.path === path);

  beforeAll(async () => {
    [sinkPort = 0] = await freePorts(1);
    await startSink();
    proxy = await startLoggingEnvoy({ envoy, directory, sinkPort, pod: "reviews-v1-abc" });
  });

  afterAll(async () => {
    await proxy?.stop();
    await running?.stop();
  });

  it("arrives: 20 requests are 20 entries, with their codes, their workload and no secrets", async () => {
    expect(new Set(await request("/fine", 12))).toEqual(new Set([200]));
    expect(new Set(await request("/missing", 8))).toEqual(new Set([404]));
    const fine = await waitFor("12 entries", () => logged("/fine").length >= 12 && logged("/fine"));
    const missing = await waitFor("8 entries", () => logged("/missing").length >= 8 && logged("/missing"));
    expect([fine.length, missing.length]).toEqual([12, 8]);
    expect(fine.every(({ status, method }) => status === 200 && method === "GET")).toBe(true);
    expect(missing.every(({ status }) => status === 404)).toBe(true);
    expect(fine[0]).toMatchObject({
      proxy: { namespace: "bookinfo", workloadName: "reviews-v1", podName: "reviews-v1-abc" },
      verified: true,
    });
    expect(fine.map(({ requestHeaders }) => requestHeaders?.["x-debug"]).sort()).toEqual(
      Array.from({ length: 12 }, (_, i) => String(i)).sort(),
    );
    expect(JSON.stringify(fine)).not.toContain("s3cret");
    expect(fine[0]?.requestHeaders?.["authorization"]).toBe("(masked)");
  });

  it("explains in words why a request failed", async () => {
    expect(await request("/nobody", 1)).toEqual([503]);
    const [entry] = await waitFor("the entry", () => logged("/nobody").length > 0 && logged("/nobody"));
    expect(entry?.flags).toContainEqual({ code: "UF", meaning: expect.stringContaining("no connection to the service") as string });
  });

  it("holds nothing up while the sink is offline, and arrives again when it is back", async () => {
    await running?.stop();
    expect(new Set(await request("/away", 20))).toEqual(new Set([200]));
    await startSink();
    // A connection that was open must be gone: no proxy continues sending to what nobody reads.
    await waitFor("entries to arrive again", async () => {
      await request("/back", 1);
      return logged("/back").length > 0;
    });
  });
});

const podsAt: PodsAt = (address) =>
  address === "127.0.0.1" ? [{ namespace: "bookinfo", name: "reviews-v1-abc", workloadName: "reviews-v1" }] : [];

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
