import { Client, credentials } from "@grpc/grpc-js";
import { eventually } from "@isthmus/testing/eventually";
import { afterEach, describe, expect, it } from "vitest";
import type { PodsAt } from "../src/index.ts";
import type { ExtensionConfig } from "../src/wasm/extensionConfigStream.ts";
import { TYPE_URL } from "../src/wasm/extensionConfigStream.ts";
import { wasmFilterConfig } from "../src/wasm/wasmFilter.ts";
import { type ProxyStream, type RunningConfigs, serveConfigs } from "./discoveryRequests.ts";
import { inbound, introduction, message } from "./messages.ts";

let running: RunningConfigs[] = [];

afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
});

async function serve(...args: Parameters<typeof serveConfigs>): Promise<RunningConfigs> {
  const one = await serveConfigs(...args);
  running.push(one);
  return one;
}

const REVIEWS = { namespace: "bookinfo", name: "reviews", workloadName: "reviews" };
const RATINGS = { namespace: "bookinfo", name: "ratings", workloadName: "ratings" };
const onlyReviews: PodsAt = (address) => (address === "127.0.0.1" ? [REVIEWS] : []);

const filter = (name: string, configuration = "") =>
  wasmFilterConfig({ name, code: { filename: "/filters/one.wasm" }, rootId: "one", configuration, failOpen: false });

/** The filters `header` of reviews and `secret` of ratings. */
function fleet(): Map<string, Map<string, ExtensionConfig>> {
  return new Map([
    ["reviews", new Map([["header", filter("header")]])],
    ["ratings", new Map([["secret", filter("secret")]])],
  ]);
}

const names = ({ received }: ProxyStream) => received.map(({ resources }) => resources.length);
const asks = (pod: string, ...resourceNames: string[]) => ({ node: introduction(pod).node, typeUrl: TYPE_URL, resourceNames });
const received = (stream: ProxyStream, count: number) => eventually(() => expect(stream.received).toHaveLength(count));

/** Resolves once the agent has taken all that was written before: it answers a stream that is opened later. */
async function settled({ open }: RunningConfigs): Promise<void> {
  const later = open();
  later.call.write(new Uint8Array([255]));
  await later.ended;
}

describe("the filters of an agent", () => {
  it("are sent when asked for, with their version, and again when they change", async () => {
    const there = fleet();
    const one = await serve(onlyReviews, there);
    const stream = one.open();
    stream.ask(asks("reviews", "header"));
    await received(stream, 1);
    const version = filter("header").version;
    expect(stream.received[0]).toMatchObject({ versionInfo: version, nonce: "1", typeUrl: TYPE_URL });
    expect(one.configs.outcomes()).toEqual([{ pod: REVIEWS, filter: "header", outcome: { state: "PENDING" } }]);
    stream.ask({ ...asks("reviews", "header"), versionInfo: version, responseNonce: "1" });
    await eventually(() => expect(one.configs.outcomes()[0]?.outcome).toEqual({ state: "ACCEPTED", version }));
    one.configs.changed();
    there.set("reviews", new Map([["header", filter("header", "other")]]));
    one.configs.changed();
    await received(stream, 2);
    expect(stream.received[1]?.versionInfo).toBe(filter("header", "other").version);
  });

  it("that a proxy refuses are not sent again, and their error is kept until one is accepted", async () => {
    const there = fleet();
    const one = await serve(onlyReviews, there);
    const stream = one.open();
    stream.ask(asks("reviews", "header"));
    await received(stream, 1);
    const version = filter("header").version;
    const errorDetail = { code: 13, message: `Unable to create Wasm plugin\u001b[31m\n${"x".repeat(2_000)}` };
    stream.ask({ ...asks("reviews", "header"), responseNonce: "1", errorDetail });
    const refused = await eventually(() => {
      const outcome = one.configs.outcomes()[0]?.outcome;
      if (outcome?.state !== "REFUSED") throw new Error("not refused yet");
      return outcome;
    });
    expect(refused.version).toBe(version);
    expect(refused.error).toMatch(/^Unable to create Wasm plugin \[31m x+$/);
    expect(refused.error).toHaveLength(1_024);
    one.configs.changed();
    await settled(one);
    expect(stream.received).toHaveLength(1);
    there.set("reviews", new Map([["header", filter("header", "mended")]]));
    one.configs.changed();
    await received(stream, 2);
    stream.ask({ ...asks("reviews", "header"), responseNonce: "2" });
    await eventually(() => expect(one.configs.outcomes()[0]?.outcome.state).toBe("ACCEPTED"));
  });

  it("are those of the pod at the address, no matter who a proxy says it is", async () => {
    const one = await serve(onlyReviews, fleet());
    const liar = one.open();
    liar.ask(asks("ratings", "secret", "header"));
    await received(liar, 1);
    expect(names(liar)).toEqual([1]);
    expect(liar.received[0]?.versionInfo).toBe(filter("header").version);
    expect(new Set(one.configs.outcomes().map(({ pod }) => pod.name))).toEqual(new Set(["reviews"]));
  });

  it("are nobody's at an address that is not known, and of several pods at one those of the one that asks", async () => {
    let pods: readonly (typeof REVIEWS)[] = [];
    const one = await serve(() => pods, fleet());
    const stream = one.open();
    stream.ask(asks("reviews", "header", "secret"));
    await settled(one);
    expect(stream.received).toHaveLength(0);
    pods = [RATINGS, REVIEWS];
    one.configs.changed();
    await received(stream, 1);
    expect(stream.received[0]?.versionInfo).toBe(filter("header").version);
    const stranger = one.open();
    stranger.ask(asks("details", "header", "secret"));
    await settled(one);
    expect(stranger.received).toHaveLength(0);
  });

  it("are served on the port that takes access logs", async () => {
    const one = await serve(onlyReviews, fleet());
    const stream = one.open();
    stream.ask(asks("reviews", "header"));
    await received(stream, 1);
    const client = new Client(`127.0.0.1:${one.port}`, credentials.createInsecure());
    const path = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs";
    const call = client.makeClientStreamRequest(
      path,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes) => bytes,
      () => undefined,
    );
    call.write(message([inbound(200)], introduction("reviews")));
    await eventually(() => expect(one.sink.query({}).entries).toHaveLength(1));
    client.close();
  });

  it("says nothing of a name that it does not have", async () => {
    const one = await serve(onlyReviews, fleet());
    const stream = one.open();
    stream.ask(asks("reviews", "gone"));
    await settled(one);
    expect(stream.received).toHaveLength(0);
    stream.ask(asks("reviews", "gone", "header"));
    await received(stream, 1);
  });

  it.each([
    [
      "bytes that are no request",
      (stream: ProxyStream) => stream.call.write(new Uint8Array([255, 255])),
      "3 the message is no DiscoveryRequest",
    ],
    ["a request of nobody", (stream: ProxyStream) => stream.ask({ resourceNames: ["header"] }), "3 the first request names no pod"],
    ["another type", (stream: ProxyStream) => stream.ask({ ...asks("reviews"), typeUrl: "x" }), `3 only ${TYPE_URL} is served`],
    [
      "more names than a proxy has",
      (stream: ProxyStream) => stream.ask(asks("reviews", ...Array.from({ length: 65 }, (_, i) => `f${i}`))),
      "3 a stream may ask for 64 names",
    ],
    ["a request that is too long", (stream: ProxyStream) => stream.call.write(new Uint8Array(1024 * 1024 + 1)), "3 a request has at most"],
  ])("closes the stream that sends %s, and no other one", async (_, send, ended) => {
    const one = await serve(onlyReviews, fleet());
    const good = one.open();
    good.ask(asks("reviews", "header"));
    const bad = one.open();
    send(bad);
    expect(await bad.ended).toContain(ended);
    await received(good, 1);
    expect(one.configs.outcomes()).toHaveLength(1);
  });

  it("has so many bytes on their way, of one address less, and closes a stream that does not answer", async () => {
    const limits = { streams: 10, streamsOfAddress: 3, bytes: 1_000_000, bytesOfAddress: 10, answerMs: 300 };
    const one = await serve(onlyReviews, fleet(), { limits });
    const [silent, next] = [one.open(), one.open()];
    silent.ask(asks("reviews", "header"));
    await received(silent, 1);
    next.ask(asks("reviews", "header"));
    await settled(one);
    expect(next.received).toHaveLength(0);
    expect(await silent.ended).toBe("4 the proxy has not answered what it was sent");
    await received(next, 1);
  });

  it("takes so many streams of one address", async () => {
    const limits = { streams: 10, streamsOfAddress: 1, bytes: 1_000_000, bytesOfAddress: 1_000_000, answerMs: 60_000 };
    const one = await serve(onlyReviews, fleet(), { limits });
    const first = one.open();
    first.ask(asks("reviews", "header"));
    await received(first, 1);
    expect(await one.open().ended).toContain("8 this agent has as many streams");
    first.call.end();
    expect(await first.ended).toContain("0 ");
    const again = one.open();
    again.ask(asks("reviews", "header"));
    await received(again, 1);
  });
});
