import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TYPE_URL } from "../src/wasm/extensionConfigStream.ts";
import { wasmFilterConfig } from "../src/wasm/wasmFilter.ts";
import { type FilterOrder, type OrderedFilter, type WasmServer, wasmServer } from "../src/wasm/wasmServer.ts";
import { type ProxyStream, serveService } from "./discoveryRequests.ts";
import { introduction } from "./messages.ts";
import { silent, wallClock } from "./wallClock.ts";

const REVIEWS = { namespace: "bookinfo", name: "reviews", workloadName: "reviews" };
const moduleOf = (word: string) => new Uint8Array([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...Buffer.from(word)]);
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

let files = new Map<string, Uint8Array>();
let http: Server;
let origin = "";
let stopped = new AbortController();

beforeEach(async () => {
  stopped = new AbortController();
  files = new Map();
  http = createServer(({ url = "" }, response) => {
    const file = files.get(url);
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});

afterEach(() => {
  stopped.abort(new Error("the test is over"));
  http.closeAllConnections();
  http.close();
});

/** A server of filters, and a stream of the only pod that asks for the filter `wasm.one`. */
async function started(orders: () => readonly FilterOrder[]): Promise<{ readonly server: WasmServer; readonly stream: ProxyStream }> {
  const server = wasmServer(
    {
      podsAt: () => [REVIEWS],
      orders,
      ordersOf: orders,
      userOf: () => Promise.resolve(undefined),
      registries: { allowance: { loopback: true } },
      changed: () => undefined,
      clock: wallClock,
      random: () => 0,
      log: silent,
    },
    stopped.signal,
  );
  server.changed();
  const { open } = await serveService(server.service, stopped.signal);
  const stream = open();
  stream.ask({ node: introduction("reviews").node, typeUrl: TYPE_URL, resourceNames: ["wasm.one"] });
  return { server, stream };
}

const order = (filter: OrderedFilter): FilterOrder => ({ key: "wasm.bookinfo.", namespace: "bookinfo", filters: [filter] });
const fetchedFrom = (word: string): OrderedFilter => ({
  name: "wasm.one",
  uri: `${origin}/${word}`,
  sha256: sha256(moduleOf(word)),
  config: word,
});

it("serves a filter once its module is there, and the one before until the next is", async () => {
  files.set("/a", moduleOf("a"));
  let now = order(fetchedFrom("a"));
  const { server, stream } = await started(() => [now]);
  await vi.waitFor(() => expect(stream.received).toHaveLength(1));
  const [filter] = now.filters;
  expect(server.stateOf(now, filter as OrderedFilter)).toEqual({ version: stream.received[0]?.versionInfo });

  now = order(fetchedFrom("b"));
  server.changed();
  const missing = now.filters[0] as OrderedFilter;
  await vi.waitFor(() => expect(server.stateOf(now, missing).problem).toContain("/b: answered with status 404"));
  stream.ask({ node: introduction("reviews").node, typeUrl: TYPE_URL, resourceNames: ["wasm.one"], responseNonce: "1" });
  await vi.waitFor(() =>
    expect(server.outcomes()[0]?.outcome).toMatchObject({ state: "ACCEPTED", version: stream.received[0]?.versionInfo }),
  );

  // The configuration does not go ahead of the module that it is for, and what is tried again succeeds.
  files.set("/b", moduleOf("b"));
  await vi.waitFor(() => expect(stream.received).toHaveLength(2), { timeout: 10_000 });
  expect(server.stateOf(now, missing)).toEqual({ version: stream.received[1]?.versionInfo });
});

it("serves a module of the proxy's own at once, and nothing once it is not ordered any more", async () => {
  let orders = [order({ name: "wasm.one", path: "/header.wasm", rootId: "one" })];
  const { server, stream } = await started(() => orders);
  await vi.waitFor(() => expect(stream.received).toHaveLength(1));
  orders = [];
  server.changed();
  const one = { name: "wasm.one", path: "/header.wasm", rootId: "one" };
  await vi.waitFor(() => expect(server.stateOf(order(one), one)).toEqual({}));
});

it("keeps what it serves when somebody else orders more than there is room for", async () => {
  const large = new Uint8Array(15 * 1024 * 1024);
  large.set(moduleOf("large"));
  files.set("/large", large);
  const source = { uri: `${origin}/large`, sha256: sha256(large) };
  let orders = [order({ name: "wasm.one", ...source })];
  const { server, stream } = await started(() => orders);
  await vi.waitFor(() => expect(stream.received).toHaveLength(1), { timeout: 10_000 });
  // Five copies more: they differ in their configuration, and come first.
  const others = Array.from(
    { length: 5 },
    (_, i): FilterOrder => ({ key: `a${i}`, namespace: "bookinfo", filters: [{ name: "wasm.other", ...source, config: `${i}` }] }),
  );
  orders = [...others, ...orders];
  server.changed();
  const problems = () => others.flatMap((one) => server.stateOf(one, one.filters[0] as OrderedFilter).problem ?? []);
  await vi.waitFor(() => expect(problems()).toEqual([expect.stringContaining("no room"), expect.stringContaining("no room")]));
  const own = orders.at(-1) as FilterOrder;
  expect(server.stateOf(own, own.filters[0] as OrderedFilter)).toEqual({ version: stream.received[0]?.versionInfo });
});

it("replaces what it serves although there is no room for both", async () => {
  const large = (word: string) => {
    const bytes = new Uint8Array(15 * 1024 * 1024);
    bytes.set(moduleOf(word));
    files.set(`/${word}`, bytes);
    return { uri: `${origin}/${word}`, sha256: sha256(bytes) };
  };
  // Four of them fit.
  const all = (source: object): FilterOrder[] =>
    ["a", "b", "c", "d"].map((key) => ({ key, namespace: "bookinfo", filters: [{ name: "wasm.one", ...source, config: key }] }));
  const isServed = (server: WasmServer, orders: readonly FilterOrder[]) =>
    orders.every((one) => server.stateOf(one, one.filters[0] as OrderedFilter).version !== undefined);
  const [before, after] = [all(large("before")), all(large("after"))];
  let orders = before;
  const { server } = await started(() => orders);
  await vi.waitFor(() => expect(isServed(server, before)).toBe(true), { timeout: 20_000 });
  orders = after;
  server.changed();
  await vi.waitFor(() => expect(isServed(server, after)).toBe(true), { timeout: 20_000 });
});

it("counts what waits to be replaced, so that nobody has room again by orders that cannot be carried out", async () => {
  const large = new Uint8Array(15 * 1024 * 1024);
  large.set(moduleOf("large"));
  files.set("/large", large);
  const source = { uri: `${origin}/large`, sha256: sha256(large) };
  const four = (prefix: string, config: string): FilterOrder[] =>
    [1, 2, 3, 4].map((i) => ({
      key: `${prefix}${i}`,
      namespace: "bookinfo",
      filters: [{ name: "wasm.one", ...source, config: `${config}${i}` }],
    }));
  const stateOf = (server: WasmServer, one: FilterOrder) => server.stateOf(one, one.filters[0] as OrderedFilter);
  let orders = four("b", "x");
  const { server } = await started(() => orders);
  await vi.waitFor(() => expect(orders.filter((one) => stateOf(server, one).version !== undefined)).toHaveLength(4), { timeout: 20_000 });
  // None of these is there: what is served stays, and so does its room.
  const missing = orders.map(({ key }) => ({
    key,
    namespace: "bookinfo",
    filters: [{ name: "wasm.one", uri: `${origin}/${key}`, sha256: source.sha256 }],
  }));
  const more = four("a", "y");
  orders = [...more, ...missing];
  server.changed();
  await vi.waitFor(() =>
    expect(more.map((one) => stateOf(server, one).problem)).toEqual(more.map(() => expect.stringContaining("no room"))),
  );
});

it("replaces what many pods of one filter have, for all of them at once", async () => {
  const large = (word: string) => {
    const bytes = new Uint8Array(15 * 1024 * 1024);
    bytes.set(moduleOf(word));
    files.set(`/${word}`, bytes);
    return { uri: `${origin}/${word}`, sha256: sha256(bytes) };
  };
  // Three configurations, each of two orders: there is no room for a fifth.
  const all = (source: object): FilterOrder[] =>
    ["a", "b"].map((key) => ({
      key,
      namespace: "bookinfo",
      filters: [1, 2, 3].map((i) => ({ name: `wasm.${i}`, ...source, config: `${i}` })),
    }));
  const isServed = (server: WasmServer, orders: readonly FilterOrder[]) =>
    orders.every((one) => one.filters.every((filter) => server.stateOf(one, filter).version !== undefined));
  const [before, after] = [all(large("before")), all(large("after"))];
  let orders = before;
  const { server } = await started(() => orders);
  await vi.waitFor(() => expect(isServed(server, before)).toBe(true), { timeout: 20_000 });
  orders = after;
  server.changed();
  await vi.waitFor(() => expect(isServed(server, after)).toBe(true), { timeout: 20_000 });
});

it("makes nothing of filters that there is no room for, and follows many changes at once", async () => {
  const large = new Uint8Array(15 * 1024 * 1024);
  large.set(moduleOf("large"));
  files.set("/large", large);
  const source = { uri: `${origin}/large`, sha256: sha256(large) };
  const all = Array.from(
    { length: 64 },
    (_, i): FilterOrder => ({ key: `${i}`, namespace: "bookinfo", filters: [{ name: "wasm.one", ...source, config: `${i}` }] }),
  );
  let asked = 0;
  const { server } = await started(() => {
    asked += 1;
    return all;
  });
  const problems = () => all.flatMap((one) => server.stateOf(one, one.filters[0] as OrderedFilter).problem ?? []);
  await vi.waitFor(() => expect(problems()).toHaveLength(60), { timeout: 10_000 });
  const making = process.cpuUsage();
  wasmFilterConfig({ name: "wasm.one", code: { bytes: large }, failOpen: true });
  const ofOne = process.cpuUsage(making).user;
  const [before, cpu] = [asked, process.cpuUsage()];
  for (let i = 0; i < 100; i++) server.changed();
  await vi.waitFor(() => expect(asked).toBeGreaterThan(before));
  expect(asked - before).toBeLessThan(10);
  // To make those that there is no room for would take 60 times as much.
  expect(process.cpuUsage(cpu).user).toBeLessThan(20 * ofOne);
});
