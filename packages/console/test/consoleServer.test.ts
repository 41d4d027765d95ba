import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { constants, gunzipSync } from "node:zlib";
import { type Log, UsageError } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { eventually } from "@isthmus/testing/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConsoleHubOptions, startConsoleHub } from "../src/events/hub.ts";
import { type ConsoleServer, type ConsoleServerOptions, startConsoleServer } from "../src/http/consoleServer.ts";
import { isLoopback, isLoopbackHost } from "../src/http/loopback.ts";
import { CHANGES_PATH, GENERATIONS_PATH, HISTORY_PATH, MOMENT_PATH, SESSIONS_PATH, STREAM_PATH } from "../src/wire.ts";
import { ask, eventsIn, folded, momentOf, object, type Received, scriptedSource } from "./consoleFixture.ts";

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

let source: ReturnType<typeof scriptedSource>;
let stop: AbortController;
let served: ConsoleServer | undefined;
let hubEnded: Promise<void>;
const sockets: Socket[] = [];

beforeEach(() => {
  source = scriptedSource();
  stop = new AbortController();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  stop.abort(new Error("the test has ended"));
  await served?.close();
  served = undefined;
  await hubEnded;
});

function startHub(options: Partial<ConsoleHubOptions>): ReturnType<typeof startConsoleHub> {
  const hub = startConsoleHub({ source, epoch: "e", clock: systemClock, log: silent, readMs: 10, clockMs: 50, ...options }, stop.signal);
  hubEnded = hub.ended;
  return hub;
}

async function serve(hubOptions: Partial<ConsoleHubOptions> = {}, options: Partial<ConsoleServerOptions> = {}): Promise<ConsoleServer> {
  const hub = startHub(hubOptions);
  served = await startConsoleServer({ host: "127.0.0.1", port: 0, hub, log: silent, ...options });
  return served;
}

/** A browser that reads all it gets. */
function browse({ port }: ConsoleServer, headers: Record<string, string> = {}) {
  let bytes = Buffer.alloc(0);
  let isClosed = false;
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("data", (data: Buffer) => {
    bytes = Buffer.concat([bytes, data]);
  });
  socket.on("error", nothing).on("close", () => {
    isClosed = true;
  });
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${STREAM_PATH} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const split = () => {
    const at = bytes.indexOf("\r\n\r\n");
    return { head: bytes.subarray(0, Math.max(0, at)).toString(), body: at < 0 ? Buffer.alloc(0) : unchunked(bytes.subarray(at + 4)) };
  };
  return {
    socket,
    get head() {
      return split().head;
    },
    get events(): readonly Received[] {
      const { head, body } = split();
      const plain =
        /content-encoding: gzip/i.test(head) && body.length > 10 ? gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }) : body;
      return eventsIn(plain.toString());
    },
    get names() {
      return this.events.map(({ event }) => event).filter((name) => name !== "clock");
    },
    get isClosed() {
      return isClosed;
    },
  };
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const size = end < 0 ? 0 : Number.parseInt(bytes.subarray(at, end).toString(), 16);
    if (end < 0 || size === 0 || end + 2 + size > bytes.length) break;
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}

describe("the past", () => {
  it("is what was known then, as a stream that ends", async () => {
    source.moment = momentOf([object("Service", "a")]);
    const server = await serve({ historyMs: 1 });
    const timesNow = async () => JSON.parse((await ask(server.port, { path: HISTORY_PATH })).body.toString()).times as readonly string[];
    await eventually(async () => expect(await timesNow()).toHaveLength(1));
    source.moment = momentOf([object("Service", "b")]);
    await eventually(async () => expect(await timesNow()).toHaveLength(2));
    const [first = "", second = ""] = await timesNow();
    const plain = await ask(server.port, { path: `${MOMENT_PATH}?at=${first}` });
    const events = eventsIn(plain.body.toString());
    expect(events.map(({ event }) => event)).toEqual(["reset", "change", "clock", "ready"]);
    expect(events[2]?.data.now).toBe(first);
    const namesIn = (body: Buffer) =>
      [...folded(eventsIn(body.toString())).collections().values()].flatMap((all) => [...all]).map(({ metadata }) => metadata.name);
    expect(namesIn(plain.body)).toEqual(["a"]);
    const zipped = await ask(server.port, { path: `${MOMENT_PATH}?at=${second}`, headers: { "accept-encoding": "gzip" } });
    expect(namesIn(gunzipSync(zipped.body))).toEqual(["b"]);
  });

  it.each(["", "?at=", "?at=yesterday", "?at=1970-01-01T00:00:00Z", `?at=${"9".repeat(5_000)}`])(
    "is not found where nothing of it is kept: %.30s",
    async (query) => {
      source.moment = momentOf([]);
      const server = await serve();
      await eventually(async () => expect((await ask(server.port, { path: HISTORY_PATH })).body.toString()).toContain("20"));
      expect((await ask(server.port, { path: `${MOMENT_PATH}${query}` })).status).toBe(404);
    },
  );

  it("has the generations of an object, and when it did not exist, but nothing of a Secret", async () => {
    const of = (name: string, generation?: number, kind = "Service") => {
      const made = object(kind, name);
      return generation === undefined ? made : { ...made, metadata: { ...made.metadata, generation } };
    };
    const moments = [[of("b")], [of("a", 1), of("s", 1, "Secret")], [of("a", 1), of("b")], [of("b")], [of("a", 7)]];
    source.moment = momentOf(moments[0] ?? []);
    const server = await serve({ historyMs: 1 });
    const timesNow = async () => JSON.parse((await ask(server.port, { path: HISTORY_PATH })).body.toString()).times as readonly string[];
    for (const [i, objects] of moments.entries()) {
      source.moment = momentOf(objects);
      await eventually(async () => expect(await timesNow()).toHaveLength(i + 1));
    }
    const asked = (query: string) => ask(server.port, { path: `${GENERATIONS_PATH}?${query}` });
    const { body } = await asked("group=&kind=Service&namespace=bookinfo&name=a&cluster=cluster-1");
    const times = await timesNow();
    expect(JSON.parse(body.toString())).toEqual({
      generations: [
        { at: times[1], generation: 1, isAbsent: false },
        { at: times[3], generation: null, isAbsent: true },
        { at: times[4], generation: 7, isAbsent: false },
      ],
    });
    for (const query of [
      "",
      "kind=Secret&namespace=bookinfo&name=s&cluster=cluster-1",
      "kind=Service&namespace=bookinfo&name=a&cluster=cluster-2",
      `kind=${"x".repeat(4_000)}`,
      "kind=__proto__&name=constructor",
    ])
      expect((await asked(query)).body.toString()).toBe('{"generations":[]}');
  });

  it("has how much changed in each cluster, and what became of agents", async () => {
    let connected = true;
    const changing = { ...source, read: source.read, clock: () => ({ at: "", clusters: [{ name: "c", at: null, connected }] }) };
    source.moment = momentOf([object("Service", "a")]);
    const server = await serve({ historyMs: 1, source: changing });
    const json = async (path: string) => JSON.parse((await ask(server.port, { path })).body.toString());
    await eventually(async () => expect((await json(CHANGES_PATH)).moments).toHaveLength(1));
    source.moment = momentOf([object("Service", "b"), { ...object("Service", "c"), metadata: { name: "c", namespace: "x" } }]);
    connected = false;
    await eventually(async () => expect((await json(CHANGES_PATH)).moments).toHaveLength(2));
    const [first, second] = (await json(CHANGES_PATH)).moments;
    expect(first.clusters).toEqual([]);
    expect(second.clusters).toEqual([
      { name: "cluster-1", count: 2 },
      { name: "", count: 1 },
    ]);
    const { since, events } = await json(SESSIONS_PATH);
    expect(Date.parse(since)).not.toBeNaN();
    expect(events).toMatchObject([{ cluster: "c", what: "disconnected" }]);
  });

  it("is not for pages elsewhere", async () => {
    const server = await serve();
    for (const path of [HISTORY_PATH, MOMENT_PATH, GENERATIONS_PATH, CHANGES_PATH, SESSIONS_PATH])
      expect((await ask(server.port, { path, headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
  });
});

describe("the stream", () => {
  it("begins with everything, tells of each change, and is the same in gzip", async () => {
    source.moment = momentOf([object("Service", "a"), object("Service", "b")]);
    const server = await serve();
    const [plain, zipped] = [browse(server), browse(server, { "accept-encoding": "br, gzip" })];
    await eventually(() => expect(plain.names).toEqual(["reset", "change", "ready"]));
    expect(plain.events[0]).toMatchObject({ id: "", data: { kind: "server", name: "test", namespace: "gloo-mesh" } });
    source.moment = momentOf([object("Service", "b"), object("Service", "c")]);
    await eventually(() => expect(plain.names).toEqual(["reset", "change", "ready", "change", "change"]));
    await eventually(() => expect(zipped.names).toEqual(plain.names));
    expect(zipped.head).toMatch(/content-encoding: gzip/i);
    const withoutClock = (events: readonly Received[]) => events.filter(({ event }) => event !== "clock");
    expect(withoutClock(zipped.events)).toEqual(withoutClock(plain.events));
    expect([...folded(plain.events).collections().values()].flatMap((all) => [...all]).map(({ metadata }) => metadata.name)).toEqual([
      "b",
      "c",
    ]);
    expect(plain.events.filter(({ event }) => event === "clock").length).toBeGreaterThan(0);
  });

  it("is not ready before all that is known was sent, whenever the beginning was made", async () => {
    source.moment = momentOf([object("Service", "a")]);
    const server = await serve();
    const first = browse(server);
    await eventually(() => expect(first.names).toEqual(["reset", "change", "ready"]));
    source.moment = momentOf([object("Service", "a"), object("Service", "b")]);
    await eventually(() => expect(first.names.at(-1)).toBe("change"));
    const later = browse(server);
    await eventually(() => expect(later.names).toEqual(["reset", "change", "change", "ready"]));
  });

  it("says the time, and shows nothing, before anything is known", async () => {
    const browser = browse(await serve());
    await eventually(() => expect(browser.events.map(({ event }) => event).slice(0, 3)).toEqual(["reset", "clock", "clock"]));
    source.moment = momentOf([object("Service", "a")]);
    await eventually(() => expect(browser.names).toEqual(["reset", "change", "ready"]));
  });

  it("is ready once something is known, and stays so while the source cannot be read", async () => {
    const hub = startConsoleHub({ source, epoch: "e", clock: systemClock, log: silent, readMs: 10, clockMs: 50 }, stop.signal);
    hubEnded = hub.ended;
    await eventually(() => expect(source.reads).toBeGreaterThan(1));
    expect(hub.isReady).toBe(false);
    source.moment = momentOf([object("Service", "a")]);
    await eventually(() => expect(hub.isReady).toBe(true));
    source.problem = "nobody answers";
    await eventually(() => expect(hub.clock().problem).toBe("nobody answers"));
    expect(hub.isReady).toBe(true);
  });

  it("keeps what was known, and says why, while the source cannot be read", async () => {
    source.moment = momentOf([object("Service", "a")]);
    const browser = browse(await serve());
    await eventually(() => expect(browser.names).toContain("ready"));
    source.problem = "nobody answers";
    await eventually(() => expect(browser.events.at(-1)).toMatchObject({ event: "clock", data: { problem: "nobody answers" } }));
    expect(browser.names).toEqual(["reset", "change", "ready"]);
    source.problem = undefined;
    await eventually(() => expect(browser.events.at(-1)?.data.problem).toBeUndefined());
  });

  it("gives what a browser has missed, or everything where that is not here any more", async () => {
    source.moment = momentOf([object("Service", "a")]);
    const server = await serve({ mostEvents: 3 });
    const first = browse(server);
    await eventually(() => expect(first.names).toContain("ready"));
    const ids = () => first.events.flatMap(({ id }) => (id === undefined || id === "" ? [] : [id]));
    first.socket.pause();
    for (const name of ["b", "c"]) {
      const reads = source.reads;
      source.moment = momentOf([object("Service", "a"), object("Service", name)]);
      await eventually(() => expect(source.reads).toBeGreaterThan(reads + 1));
    }
    first.socket.resume();
    await eventually(() => expect(ids()).toEqual(["e-0", "e-1", "e-2", "e-3"]));
    const missed = browse(server, { "last-event-id": "e-1" });
    await eventually(() => expect(missed.names).toEqual(["change", "change", "ready"]));
    expect(missed.events.map(({ id }) => id).filter((id) => id !== undefined)).toEqual(["e-2", "e-3", "e-3"]);
    for (let i = 0; i < 4; i++) {
      const reads = source.reads;
      source.moment = momentOf([object("Service", `d${i}`)]);
      await eventually(() => expect(source.reads).toBeGreaterThan(reads + 1));
    }
    for (const id of ["e-1", "e-99999", "other-2", "e-", "e--1", "e-1.5", "x".repeat(10_000)]) {
      const late = browse(server, { "last-event-id": id });
      await eventually(() => expect(late.names).toEqual(["reset", "change", "ready"]));
      expect(
        late.events.filter(({ event }) => event === "change")[0]?.data.put.map((one: { metadata: { name: string } }) => one.metadata.name),
      ).toEqual(["d3"]);
    }
  });

  it("cuts off a browser that takes nothing, and keeps nothing for it", async () => {
    const big = (n: number) => Array.from({ length: 300 }, (_, i) => object("Service", `s${n}-${i}`, { text: noise(50_000) }));
    source.moment = momentOf(big(0));
    const hub = startHub({ mostBytes: 1_000_000 });
    // It waits for no browser that reads, so that it may give up soon.
    const impatient = await startConsoleServer({ host: "127.0.0.1", port: 0, hub, log: silent, stalledMs: 500 });
    served = impatient;
    const slow = browse(impatient);
    slow.socket.pause();
    await eventually(() => expect(impatient.streams).toBe(1));
    await eventually(() => expect(impatient.streams).toBe(0));
    await impatient.close();
    served = await startConsoleServer({ host: "127.0.0.1", port: 0, hub, log: silent });
    const again = browse(served, { "accept-encoding": "gzip" });
    // Seldom: each look goes through all that was received.
    await eventually(() => expect(again.names.at(-1)).toBe("ready"), { interval: 1000 });
  }, 150_000);

  it("ends for a browser that lags behind what is kept, which begins again", async () => {
    source.moment = momentOf([object("Service", "a")]);
    const hub = startConsoleHub(
      { source, epoch: "e", clock: systemClock, log: silent, readMs: 5, clockMs: 50, mostEvents: 2 },
      stop.signal,
    );
    hubEnded = hub.ended;
    const follower = hub.follow(undefined, stop.signal)[Symbol.asyncIterator]();
    for (let i = 0; i < 3; i++) expect((await follower.next()).done).toBe(false);
    for (let i = 0; i < 5; i++) {
      source.moment = momentOf([object("Service", `b${i}`)]);
      await sleep(50);
    }
    expect((await follower.next()).done).toBe(true);
  });

  it("is made once for all: who comes later gets the same, and reading it again costs nothing", async () => {
    let serialised = 0;
    const counted = { toJSON: () => `${++serialised}` };
    source.moment = momentOf([object("Service", "a", { spec: { counted } })]);
    const server = await serve();
    const browsers = Array.from({ length: 5 }, () => browse(server));
    for (const browser of browsers) await eventually(() => expect(browser.names).toEqual(["reset", "change", "ready"]));
    expect(serialised).toBe(1);
  });

  it("is for so many browsers, and for pages of this console alone", async () => {
    source.moment = momentOf([]);
    const server = await serve({}, { maxStreams: 2 });
    const [first] = [browse(server), browse(server)];
    await eventually(() => expect(server.streams).toBe(2));
    const third = await ask(server.port, { path: STREAM_PATH });
    expect(third.status).toBe(503);
    first?.socket.destroy();
    await eventually(() => expect(server.streams).toBe(1));
    expect((await ask(server.port, { path: STREAM_PATH, headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
    expect((await ask(server.port, { path: STREAM_PATH, method: "HEAD" })).status).toBe(200);
    await eventually(() => expect(server.streams).toBe(1));
  });
});

describe("the console's server", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "isthmus-pages-"));
    mkdirSync(join(directory, "assets"));
    writeFileSync(join(directory, "index.html"), "<!doctype html><title>console</title>");
    writeFileSync(join(directory, "assets/main-0123abcd.js"), "console.log(1);".repeat(100));
    writeFileSync(join(directory, "assets/main-0123abcd.js.map"), "{}");
    writeFileSync(join(directory, ".hidden.js"), "hidden");
    writeFileSync(join(directory, "notes.md"), "notes");
    symlinkSync("/etc/hostname", join(directory, "outside.txt"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it("sends pages, files that never change, and nothing else of the directory", async () => {
    const server = await serve({}, { files: directory });
    for (const path of ["/", "/insights?code=X", "/destinations/gloo-mesh/reviews.v1", "/clusters/cluster-1"]) {
      const page = await ask(server.port, { path });
      expect([page.status, page.headers["content-type"], page.headers["cache-control"]]).toEqual([
        200,
        "text/html; charset=utf-8",
        "no-cache",
      ]);
    }
    const script = await ask(server.port, { path: "/assets/main-0123abcd.js", headers: { "accept-encoding": "gzip" } });
    expect(script.headers).toMatchObject({ "cache-control": "public, max-age=31536000, immutable", "content-encoding": "gzip" });
    expect(gunzipSync(script.body).toString()).toContain("console.log");
    const known = await ask(server.port, { path: "/", headers: { "if-none-match": String((await ask(server.port)).headers["etag"]) } });
    expect(known.status).toBe(304);
    for (const path of [
      "/assets/main-0123abcd.js.map",
      "/.hidden.js",
      "/outside.txt",
      "/assets/none.js",
      "/api/v1/none",
      "/../package.json",
      "/%2e%2e/%2e%2e/etc/passwd.txt",
    ]) {
      expect([path, (await ask(server.port, { path })).status]).toEqual([path, 404]);
    }
    expect((await ask(server.port, { path: "/notes.md" })).body.toString()).toContain("<title>console</title>");
  });

  it("answers with headers that keep pages to themselves", async () => {
    const server = await serve({}, { files: directory });
    for (const path of ["/", STREAM_PATH, "/assets/none.js"]) {
      const { headers } = await ask(server.port, { path, method: "HEAD" });
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/);
      expect(headers["content-security-policy"]).not.toMatch(/script-src[^;]*unsafe/);
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "x-frame-options": "DENY" });
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  it("answers under the names of this machine alone, and to GET and HEAD", async () => {
    const server = await serve({}, { files: directory });
    for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8090", "[::2]"]) {
      expect([host, (await ask(server.port, { headers: { host } })).status]).toEqual([host, 421]);
    }
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:8090", "127.1.2.3", "[::1]:80"]) {
      expect([host, (await ask(server.port, { headers: { host } })).status]).toEqual([host, 200]);
    }
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"]) expect((await ask(server.port, { method })).status).toBe(405);
  });

  it("ends a request that does not come, and refuses headers that do not end", async () => {
    const server = await serve({}, { requestMs: 200 });
    const socket = connect(server.port, "127.0.0.1");
    sockets.push(socket);
    const closed = new Promise((resolve) => socket.on("close", resolve).on("error", nothing));
    socket.on("data", nothing).write("GET / HTTP/1.1\r\nhost: localhost\r\n");
    await closed;
    const long = await ask(server.port, { headers: { x: "y".repeat(20_000) } });
    expect(long.status).toBe(431);
  });

  it("is on no other address, and says so of a port that is taken", async () => {
    const server = await serve();
    const hub = { about: source.about, follow: nothing, clock: nothing, ended: Promise.resolve() } as never;
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "console.example", "127.example"]) {
      await expect(startConsoleServer({ host, port: 0, hub, log: silent })).rejects.toThrow(UsageError);
    }
    await expect(startConsoleServer({ host: "127.0.0.1", port: server.port, hub, log: silent })).rejects.toThrow(/already in use/);
    expect([isLoopback("::1"), isLoopback("127.0.0.53"), isLoopback("1.127.0.0")]).toEqual([true, true, false]);
    expect(isLoopbackHost(`${"1".repeat(10_000)}`)).toBe(false);
  });
});

/** Text that cannot be made shorter. */
function noise(length: number): string {
  return randomBytes(length).toString("hex").slice(0, length);
}
