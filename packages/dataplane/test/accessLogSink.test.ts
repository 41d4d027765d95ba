import { eventually } from "@isthmus/testing/eventually";
import { afterEach, describe, expect, it } from "vitest";
import { type AccessLog, type AccessLogQuery, type PodsAt, parseAccessLogAnswer } from "../src/index.ts";
import { type EntryInit, inbound, introduction, message } from "./messages.ts";
import { metricValue, type RunningSink, startSink } from "./runningSink.ts";

let running: RunningSink[] = [];

afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
});

async function sinkWith(...args: Parameters<typeof startSink>): Promise<RunningSink> {
  const sink = await startSink(...args);
  running.push(sink);
  return sink;
}

/** What there is, once there are so many. */
async function entries({ sink }: RunningSink, count: number, query: AccessLogQuery = {}): Promise<readonly AccessLog[]> {
  return eventually(() => {
    const found = sink.query(query).entries;
    expect(found).toHaveLength(count);
    return found;
  });
}

const LOOPBACK_IS_REVIEWS: PodsAt = (address) =>
  address === "127.0.0.1" ? [{ namespace: "bookinfo", name: "reviews-v1-abc", workloadName: "reviews-v1" }] : [];

describe("the access log sink", () => {
  it("keeps what a proxy sends, of all its messages, and answers when the proxy has ended its stream", async () => {
    const sink = await sinkWith();
    const { call, ended } = sink.stream();
    call.write(message([inbound(200), inbound(201)], introduction("reviews-v1-abc")));
    call.write(
      message([inbound(503, { commonProperties: { upstreamCluster: "inbound|9080||", responseFlags: { noHealthyUpstream: true } } })]),
    );
    const found = await entries(sink, 3);
    expect(found.map(({ status }) => status).sort()).toEqual([200, 201, 503]);
    expect(found[0]).toMatchObject({
      proxy: { namespace: "bookinfo", workloadName: "reviews-v1", podName: "reviews-v1-abc" },
      direction: "inbound",
      method: "GET",
      path: "/reviews/0?…",
      logName: "all",
      destination: { namespace: "bookinfo", name: "reviews-v1" },
    });
    expect(sink.sink.query({ status: "5xx" }).entries.map(({ flags }) => flags.map(({ code }) => code))).toEqual([["UH"]]);
    call.end();
    expect(await ended).toBe("OK");
  });

  it("marks as unverified what does not come from the address of the pod that it names", async () => {
    const sink = await sinkWith(LOOPBACK_IS_REVIEWS);
    sink.stream().call.write(message([inbound(200)], introduction("reviews-v1-abc")));
    sink.stream().call.write(message([inbound(500)], introduction("ratings-v1-xyz", { workload: "ratings-v1" })));
    const found = await entries(sink, 2);
    expect(Object.fromEntries(found.map(({ status, verified }) => [status, verified]))).toEqual({ 200: true, 500: false });
    expect(metricValue(sink.sink.metrics(), "gloo_mesh_access_log_entries_total", { verified: "false" })).toBe(1);
  });

  it("masks what is secret, and shows other headers", async () => {
    const sink = await sinkWith();
    const requestHeaders = { Authorization: "Bearer s3cret", cookie: "id=s3cret", "x-api-key": "s3cret", "x-debug": "1" };
    const entry: EntryInit = inbound(200, {
      request: { path: "/", requestHeaders },
      response: { responseCode: 200, responseHeaders: { "set-cookie": "s3cret", server: "envoy" } },
    });
    sink.stream().call.write(message([entry], introduction("reviews-v1-abc")));
    const [found] = await entries(sink, 1);
    expect(found?.requestHeaders).toEqual({ authorization: "(masked)", cookie: "(masked)", "x-api-key": "(masked)", "x-debug": "1" });
    expect(found?.responseHeaders).toEqual({ "set-cookie": "(masked)", server: "envoy" });
    expect(JSON.stringify(found)).not.toContain("s3cret");
  });

  it.each([
    ["that is no message of the service", Buffer.from("ffffffff", "hex"), "3 the message is no StreamAccessLogsMessage"],
    ["without an identifier", Buffer.from(message([inbound(200)])), "3 the first message has no identifier"],
    [
      "of a node that names no pod",
      Buffer.from(message([inbound(200)], { node: { id: "curl", cluster: "", metadata: {} as never }, logName: "x" })),
      "3 the identifier names no pod: its node has neither Istio's metadata nor Istio's id",
    ],
  ])("closes a stream with a message %s, and no other stream", async (_, bytes, answer) => {
    const sink = await sinkWith();
    const good = sink.stream();
    good.call.write(message([inbound(200)], introduction("reviews-v1-abc")));
    await entries(sink, 1);
    const bad = sink.stream();
    bad.call.write(bytes);
    expect(await bad.ended).toBe(answer);
    good.call.write(message([inbound(202)]));
    await entries(sink, 2);
    expect(metricValue(sink.sink.metrics(), "gloo_mesh_access_log_streams_refused_total")).toBe(1);
    await eventually(() => expect(metricValue(sink.sink.metrics(), "gloo_mesh_access_log_streams")).toBe(1));
  });

  it("refuses a message above 4 MiB, and continues", async () => {
    const sink = await sinkWith();
    const { call, ended } = sink.stream();
    call.write(message([inbound(200, { request: { path: "x".repeat(5 * 1024 * 1024) } })], introduction("reviews-v1-abc")));
    expect(await ended).toMatch(/^8 /);
    sink.stream().call.write(message([inbound(204)], introduction("reviews-v1-abc")));
    await entries(sink, 1);
  });

  it("cuts the headers of an entry above 16 KiB, and drops one that is too large without them", async () => {
    const sink = await sinkWith();
    const large = { "x-large": "x".repeat(20_000) };
    const { call } = sink.stream();
    call.write(message([inbound(200, { request: { path: "/p", requestHeaders: large } })], introduction("reviews-v1-abc")));
    call.write(message([inbound(201, { request: { authority: "x".repeat(20_000), path: "/" } })]));
    const [found] = await entries(sink, 1);
    expect(found).toMatchObject({ status: 200, path: "/p", cut: true });
    expect(found?.requestHeaders).toBeUndefined();
    await eventually(() =>
      expect(metricValue(sink.sink.metrics(), "gloo_mesh_access_log_entries_dropped_total", { reason: "Size" })).toBe(1),
    );
  });

  it("answers with a mebibyte at most, the newest entries, and says that there are more", async () => {
    const sink = await sinkWith(undefined, { limits: { entriesPerProxy: 500, proxies: 10, bytes: 64 * 1024 * 1024 } });
    const requestHeaders = Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`x-${i}`, "x".repeat(1_024)]));
    const { call } = sink.stream();
    for (let i = 0; i < 10; i++) {
      const some = Array.from({ length: 10 }, (_, j) => inbound(200 + 10 * i + j, { request: { path: "/", requestHeaders } }));
      call.write(message(some, introduction("reviews-v1-abc")));
    }
    await eventually(() => expect(sink.sink.query({}).received).toBe(100));
    const answer = sink.sink.query({ limit: 500 });
    const bytes = Buffer.from(JSON.stringify(answer));
    expect(answer.complete).toBe(false);
    expect(answer.entries[0]).toMatchObject({ status: 299 });
    expect(bytes.length).toBeGreaterThan(900 * 1024);
    expect(parseAccessLogAnswer(bytes)).toEqual(answer);
  });

  it("takes some streams of one address only, and others once those have ended", async () => {
    const sink = await sinkWith(undefined, { mostStreams: { all: 10, ofAddress: 1 } });
    const { call, ended } = sink.stream();
    call.write(message([inbound(200)], introduction("reviews-v1-abc")));
    await entries(sink, 1);
    expect(await sink.stream().ended).toBe("8 this agent has as many streams of access logs as it takes: 1 from 127.0.0.1");
    call.end();
    await ended;
    sink.stream().call.write(message([inbound(201)], introduction("reviews-v1-abc")));
    await entries(sink, 2);
  });

  it("tries a port that is taken again, and says what to do", async () => {
    const first = await sinkWith();
    const lines: string[] = [];
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (_: object, line: string) => lines.push(line),
    };
    let waits = 0;
    let free: Promise<void> | undefined;
    const clock = {
      now: () => 0,
      sleep: async () => {
        waits += 1;
        if (waits > 5) throw new Error("the port stays taken");
        free ??= first.stop();
        await free;
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
    const second = await sinkWith(undefined, { port: first.port, log, clock });
    expect(second.port).toBe(first.port);
    expect(waits).toBeGreaterThan(0);
    expect(lines[0]).toContain("free the port, or set another with --workload-port");
  });

  it("answers by workload, by who called and was called, by status, and no more than is asked for", async () => {
    const sink = await sinkWith((address) =>
      address === "10.0.0.9" ? [{ namespace: "bookinfo", name: "productpage-v1-q", workloadName: "productpage-v1" }] : [],
    );
    const from = (address: string) => ({
      upstreamCluster: "inbound|9080||",
      downstreamRemoteAddress: { address: { case: "socketAddress" as const, value: { address } } },
    });
    const outbound = { upstreamCluster: "outbound|9080|v1|ratings.bookinfo.svc.cluster.local" };
    sink
      .stream()
      .call.write(
        message(
          [
            inbound(200, { commonProperties: from("10.0.0.9") }),
            inbound(404, { commonProperties: from("10.0.0.8") }),
            inbound(503, { commonProperties: outbound }),
          ],
          introduction("reviews-v1-abc"),
        ),
      );
    await entries(sink, 3);
    const statuses = (query: AccessLogQuery) => sink.sink.query(query).entries.map(({ status }) => status);
    expect(statuses({ from: "productpage-v1" })).toEqual([200]);
    expect(statuses({ from: "bookinfo/productpage-v1" })).toEqual([200]);
    expect(statuses({ to: "bookinfo/ratings" })).toEqual([503]);
    expect(statuses({ from: "reviews-v1" })).toEqual([503]);
    expect(statuses({ status: "404" })).toEqual([404]);
    expect(statuses({ workload: "reviews-v2" })).toEqual([]);
    expect(sink.sink.query({ limit: 2 })).toMatchObject({ complete: false, received: 3, dropped: 0 });
    expect(statuses({ limit: 2 })).toHaveLength(2);
  });
});
