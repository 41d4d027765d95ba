import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kind, Log } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { eventually } from "@isthmus/testing/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startConsoleHub } from "../src/events/hub.ts";
import { type ConsoleServer, startConsoleServer } from "../src/http/consoleServer.ts";
import { startLogin } from "../src/login/login.ts";
import { startSessions } from "../src/login/sessions.ts";
import { startViewerHubs } from "../src/viewers/viewerHubs.ts";
import { CHANGES_PATH, GENERATIONS_PATH, HISTORY_PATH, MOMENT_PATH, SESSIONS_PATH, STREAM_PATH } from "../src/wire.ts";
import { movedClock, scriptedReviews } from "./accessFixture.ts";
import { ask, momentOf, object, scriptedSource } from "./consoleFixture.ts";

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const kinds = {
  kindOf: (apiVersion: string, kind: string) => (kind === "Service" ? ({ apiVersion, kind, plural: "services" } as Kind) : undefined),
  discovery: [],
  registration: { apiVersion: "multicluster.solo.io/v1alpha1", plural: "kubernetesclusters" } as never,
};

const HOST = "console.example.com";
let reviews: ReturnType<typeof scriptedReviews>;
let stop: AbortController;
let served: ConsoleServer;
let directory: string;
let ended: Promise<unknown>;
let source: ReturnType<typeof scriptedSource>;
let connected: boolean;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "isthmus-pages-"));
  writeFileSync(join(directory, "index.html"), "<p>console");
  writeFileSync(join(directory, "app.js"), "1");
  reviews = scriptedReviews();
  reviews.bearers.set("good", { username: "alice", groups: ["dev"] });
  stop = new AbortController();
  source = scriptedSource();
  source.moment = momentOf([object("Service", "a")]);
  connected = true;
  const clusters = () => ["cluster-1", "cluster-2"].map((name) => ({ name, at: null, connected }));
  source.clock = () => ({ at: new Date(0).toISOString(), clusters: clusters() });
  const hub = startConsoleHub({ source, epoch: "e", clock: systemClock, log: silent, readMs: 10, historyMs: 1 }, stop.signal);
  const shared = { reviews, clock: systemClock, log: silent };
  const publicUrl = new URL(`https://${HOST}`);
  const login = startLogin({ ...shared, publicUrl, isEncrypted: false, reviewMs: 50 }, stop.signal);
  const viewers = startViewerHubs({ ...shared, hub, kinds, namespace: "gloo-mesh", readMs: 10 }, stop.signal);
  served = await startConsoleServer({
    host: "127.0.0.1",
    port: 0,
    hub,
    log: silent,
    access: { login, viewers, publicUrl },
    files: directory,
  });
  ended = Promise.all([hub.ended, login.ended]);
});
afterEach(async () => {
  stop.abort(new Error("the test has ended"));
  await served.close();
  await ended;
  rmSync(directory, { recursive: true });
});

interface Post {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  /** The address of the browser. */
  readonly from?: string;
}

function post(fields: Record<string, string>, { path = "/login", headers = {}, from = "127.0.0.1" }: Post = {}) {
  const body = new URLSearchParams(fields).toString();
  const all = { host: HOST, origin: `https://${HOST}`, "content-type": "application/x-www-form-urlencoded", ...headers };
  return new Promise<{ status: number; headers: Record<string, string | string[] | undefined>; body: string }>((resolve, reject) => {
    const to = { host: "127.0.0.1", port: served.port, localAddress: from };
    const asked = request({ ...to, path, method: "POST", headers: all, agent: false }, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => {
        text += part.toString();
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

async function loggedIn(): Promise<string> {
  const { status, headers } = await post({ token: "good" });
  expect(status).toBe(303);
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}

const get = (path: string, headers: Record<string, string> = {}) => ask(served.port, { path, headers: { host: HOST, ...headers } });

describe("without a session", () => {
  it.each([
    "/",
    "/policies",
    "/app.js",
    "/index.html",
    STREAM_PATH,
    HISTORY_PATH,
    `${MOMENT_PATH}?at=2999-01-01T00:00:00Z`,
    `${GENERATIONS_PATH}?kind=Service&name=a`,
    CHANGES_PATH,
    SESSIONS_PATH,
    "/no-such-file",
    `/login/..${STREAM_PATH}`,
  ])("%s gives nothing", async (path) => {
    const { status, body } = await get(path);
    expect([status, body.toString()]).toEqual([401, "not logged in\n"]);
    for (const cookie of [
      "__Host-gloo-mesh-console=",
      "__Host-gloo-mesh-console=x",
      "gloo-mesh-console=x",
      "a=b; ;;=",
      `x=${"y".repeat(4_000)}`,
    ])
      expect((await get(path, { cookie })).status).toBe(401);
  });

  it("a page leads to the login, and from there back", async () => {
    const { status, headers } = await get("/policies?q=a%20b", { accept: "text/html" });
    expect([status, headers["location"]]).toEqual([303, "/login?next=%2Fpolicies%3Fq%3Da%2520b"]);
    const page = await get(String(headers["location"]));
    expect(page.status).toBe(200);
    expect(page.body.toString()).toContain('name="next" value="/policies?q=a%20b"');
    expect((await post({ token: "good", next: "/policies?q=a%20b" })).headers["location"]).toBe("/policies?q=a%20b");
  });

  it.each([
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/..//evil.example",
    "/a/../..//evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "/logout",
    "/login?next=/",
    "",
    "evil",
    `/${"a".repeat(9_000)}`,
  ])("a login never leads elsewhere: %s", async (next) => {
    const { status, headers } = await post({ token: "good", next });
    expect([status, headers["location"]]).toEqual([303, "/"]);
  });

  it("hostile words on the login page are text", async () => {
    const page = await get(`/login?next=${encodeURIComponent('/"><script>alert(1)</script>')}`);
    expect(page.body.toString()).not.toContain("<script");
    expect(page.headers["content-security-policy"]).toContain("script-src 'self'");
    expect(page.headers["cache-control"]).toBe("no-store");
  });

  it("other hosts are refused, also with a session", async () => {
    const cookie = await loggedIn();
    for (const host of ["evil.example", `${HOST}.evil.example`, `evil.${HOST}`, `${HOST}:1`])
      expect((await get("/", { host, cookie })).status).toBe(421);
  });
});

describe("a login", () => {
  it("gives a cookie that scripts and other hosts cannot read, and opens everything", async () => {
    const { headers } = await post({ token: "good" });
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(/^__Host-gloo-mesh-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
    expect((await get("/", { cookie })).body.toString()).toBe("<p>console");
    expect((await get("/app.js", { cookie })).status).toBe(200);
    expect(reviews.asked[0]).toEqual({ token: "good", audience: "gloo-mesh-console", isEncrypted: false });
  });

  it("with a token that does not count is refused, and says why", async () => {
    const { status, headers, body } = await post({ token: "wrong" });
    expect(status).toBe(401);
    expect(headers["set-cookie"]).toBeUndefined();
    expect(body).toContain('<p role="alert" id="problem">You are not logged in: the Kubernetes API does not accept this token.</p>');
    expect(body).not.toContain("wrong");
  });

  it.each(["", " ", "a b", "a\nb", "ä", "\u0000"])("with %j asks nobody", async (token) => {
    expect((await post({ token })).status).toBe(400);
    expect(reviews.asked).toEqual([]);
  });

  it("of a page elsewhere is refused", async () => {
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ] as Record<string, string>[]) {
      expect((await post({ token: "good" }, { headers })).status).toBe(403);
      expect((await post({}, { path: "/logout", headers })).status).toBe(403);
    }
    expect(reviews.asked).toEqual([]);
  });

  it("is a short form", async () => {
    expect((await post({ token: "x".repeat(40_000) })).status).toBe(400);
    expect((await post({ token: "good" }, { headers: { "content-type": "application/json" } })).status).toBe(400);
    expect(reviews.asked).toEqual([]);
  });

  it("is refused while the Kubernetes API cannot be asked", async () => {
    reviews.problem = "no route to https://internal.address";
    const { status, body } = await post({ token: "good" });
    expect(status).toBe(503);
    expect(body).not.toContain("internal.address");
  });

  it("does not let many wrong tokens keep the Kubernetes API busy", async () => {
    let release: () => void = nothing;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let most = 0;
    let now = 0;
    reviews.whoBears = async () => {
      most = Math.max(most, ++now);
      await held;
      now--;
      return { refused: "no" };
    };
    const statuses: number[] = [];
    // Some are asked about, as many wait as will have their turn soon, and the others come again.
    const wrong = (from: string, count: number) =>
      Array.from({ length: count }, async () => statuses.push((await post({ token: "wrong" }, { from })).status));
    const answers = [...wrong("127.0.0.2", 36 + 5), ...wrong("127.0.0.3", 36 + 5)];
    await eventually(() => expect([now, statuses]).toEqual([8, Array(10).fill(429)]));
    release();
    await Promise.all(answers);
    expect(statuses.slice(10)).toEqual(Array(8 + 64).fill(401));
    expect(most).toBe(8);
  });

  it("keeps places free for others while one address tries tokens", async () => {
    let release: () => void = nothing;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { whoBears } = reviews;
    reviews.whoBears = async (question) => {
      if (question.token === "wrong") await held;
      return whoBears(question);
    };
    const statuses: number[] = [];
    const answers = Array.from({ length: 200 }, async () => statuses.push((await post({ token: "wrong" }, { from: "127.0.0.2" })).status));
    await eventually(() => expect(statuses).toEqual(Array(200 - 36).fill(429)));
    const alice = post({ token: "good" });
    release();
    expect((await alice).status).toBe(303);
    await Promise.all(answers);
  });

  it("succeeds each time while one address tries 200 wrong tokens at a time, about which the API server is seldom asked", async () => {
    const { whoBears } = reviews;
    let guesses = 0;
    reviews.whoBears = async (question) => {
      if (question.token === "wrong") guesses++;
      // As long as an API server takes.
      await sleep(5);
      return whoBears(question);
    };
    const done = new AbortController();
    const attack = Array.from({ length: 200 }, async () => {
      for (; !done.signal.aborted; await sleep(20)) await post({ token: "wrong" }, { from: "127.0.0.2" });
    });
    const begun = performance.now();
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) statuses.push((await post({ token: "good" })).status);
    const seconds = (performance.now() - begun) / 1_000;
    done.abort();
    await Promise.all(attack);
    expect(statuses).toEqual(Array(40).fill(303));
    expect(guesses).toBeGreaterThanOrEqual(60);
    expect(guesses).toBeLessThanOrEqual(60 + 2 * seconds + 5);
  });
});

describe("the past", () => {
  it("has nothing that the user may not see now", async () => {
    const cookie = await loggedIn();
    const { body } = await get(HISTORY_PATH, { cookie });
    const { times } = JSON.parse(body.toString()) as { times: readonly string[] };
    const moment = await get(`${MOMENT_PATH}?at=${times[0]}`, { cookie });
    expect(moment.status).toBe(200);
    expect(moment.body.toString()).toContain('"username":"alice"');
    expect(moment.body.toString()).not.toContain("event: change");
  });

  it("says how often an object changed to those alone who may see it, and to others what it says of none", async () => {
    reviews.bearers.set("all", { username: "bob" });
    reviews.rules.set("bob", [{}]);
    const path = `${GENERATIONS_PATH}?kind=Service&namespace=bookinfo&name=a&cluster=cluster-1`;
    const alice = await loggedIn();
    const hidden = await get(path, { cookie: alice });
    const none = await get(path.replace("name=a", "name=none"), { cookie: alice });
    expect([hidden.status, hidden.body.toString()]).toEqual([none.status, none.body.toString()]);
    expect([hidden.status, hidden.body.toString()]).toEqual([200, '{"generations":[]}']);
    const { headers } = await post({ token: "all" });
    const bob = String(headers["set-cookie"]).split(";")[0] ?? "";
    expect((await get(path, { cookie: bob })).body.toString()).toMatch(/"generation":null,"isAbsent":false/);
  });
});

describe("records of the past", () => {
  async function of(user: string, rules: readonly object[]) {
    reviews.bearers.set(user, { username: user });
    reviews.rules.set(user, rules as never);
    const { headers } = await post({ token: user });
    return String(headers["set-cookie"]).split(";")[0] ?? "";
  }

  async function happened(cookie: string): Promise<void> {
    connected = false;
    const elsewhere = { ...object("Service", "c"), metadata: { name: "c", namespace: "bookinfo", clusterName: "cluster-2" } };
    source.moment = momentOf([object("Service", "b"), elsewhere]);
    await eventually(async () => expect(JSON.parse((await get(CHANGES_PATH, { cookie })).body.toString()).moments).toHaveLength(2));
    await eventually(async () => expect((await get(SESSIONS_PATH, { cookie })).body.toString()).toContain("disconnected"));
  }

  const read = async (cookie: string) => {
    const [changes, sessions] = await Promise.all([CHANGES_PATH, SESSIONS_PATH].map((path) => get(path, { cookie })));
    const { moments } = JSON.parse(changes?.body.toString() ?? "") as { moments: { clusters: { name: string; count: number }[] }[] };
    const { events } = JSON.parse(sessions?.body.toString() ?? "") as { events: { cluster: string }[] };
    return { changed: moments.at(-1)?.clusters, clusters: events.map(({ cluster }) => cluster) };
  };

  it("are of what each user may see, and nothing for one who may see nothing", async () => {
    const all = await of("all", [{}]);
    await happened(all);
    expect(await read(all)).toEqual({
      changed: [
        { name: "cluster-1", count: 2 },
        { name: "cluster-2", count: 1 },
      ],
      clusters: ["cluster-1", "cluster-2"],
    });
    expect(await read(await loggedIn())).toEqual({ changed: [], clusters: [] });
    // One cluster, with nothing in it.
    const narrow = await of("narrow", [{ verb: "get", resource: "kubernetesclusters.multicluster.solo.io", name: "cluster-2" }]);
    expect(await read(narrow)).toEqual({ changed: [], clusters: ["cluster-2"] });
    const services = { resource: "services", namespace: "bookinfo" };
    const team = await of("team", [{ verb: "get", resource: "kubernetesclusters.multicluster.solo.io", name: "cluster-2" }, services]);
    expect(await read(team)).toEqual({ changed: [{ name: "cluster-2", count: 1 }], clusters: ["cluster-2"] });
  });

  it("are not given while nobody can be asked", async () => {
    const cookie = await of("unasked", [{}]);
    reviews.problem = "down";
    for (const path of [CHANGES_PATH, SESSIONS_PATH]) {
      const { status, body } = await get(path, { cookie });
      expect([status, body.toString()]).toEqual([503, "the Kubernetes API cannot be asked what you may list\n"]);
    }
  });
});

describe("a session", () => {
  it("ends with a logout", async () => {
    const cookie = await loggedIn();
    const { status, headers } = await post({}, { path: "/logout", headers: { cookie } });
    expect([status, headers["location"]]).toEqual([303, "/login"]);
    expect(String(headers["set-cookie"])).toContain("Max-Age=0");
    expect((await get("/", { cookie })).status).toBe(401);
  });

  it("does not end because a page elsewhere has a picture of the logout", async () => {
    const cookie = await loggedIn();
    await get("/logout", { cookie });
    expect((await get("/", { cookie })).status).toBe(200);
  });

  it("ends, with its streams, when its token no longer counts", async () => {
    const cookie = await loggedIn();
    let [isOpen, isClosed] = [false, false];
    request({ host: "127.0.0.1", port: served.port, path: STREAM_PATH, headers: { host: HOST, cookie }, agent: false }, (response) => {
      isOpen = true;
      response
        .resume()
        .on("error", nothing)
        .on("close", () => {
          isClosed = true;
        });
    })
      .on("error", nothing)
      .end();
    // A stream that is closed before anything of it was sent is an error of the request instead.
    await eventually(() => expect([isOpen, served.streams]).toEqual([true, 1]));
    reviews.bearers.delete("good");
    await eventually(() => expect([isClosed, served.streams]).toEqual([true, 0]));
    expect((await get("/", { cookie })).status).toBe(401);
  });

  it("is another one after each login", async () => {
    const first = await loggedIn();
    const { headers } = await post({ token: "good" }, { headers: { cookie: first } });
    expect(String(headers["set-cookie"]).split(";")[0]).not.toBe(first);
    expect((await get("/", { cookie: first })).status).toBe(401);
  });
});

describe("sessions", () => {
  const token = { token: "good", audience: "a", isEncrypted: false };
  const ALICE = { username: "alice", groups: ["dev"] };
  const started = (most?: number) => {
    const clock = movedClock();
    const sessions = startSessions({ reviews, clock, log: silent, ...(most === undefined ? {} : { most }) }, stop.signal);
    return { clock, sessions };
  };

  it("end after an hour without use, and after twelve hours", async () => {
    const { clock, sessions } = started();
    const [used, unused] = [sessions.open(ALICE, token) ?? "", sessions.open(ALICE, token) ?? ""];
    for (let minutes = 0; minutes < 61; minutes++) {
      expect(sessions.find(used)).toBeDefined();
      await clock.move(60_000);
    }
    expect(sessions.find(unused)).toBeUndefined();
    for (let minutes = 61; minutes < 720; minutes++) {
      expect(sessions.find(used)).toBeDefined();
      await clock.move(60_000);
    }
    await clock.move(1);
    expect(sessions.find(used)).toBeUndefined();
    expect(sessions.size).toBe(0);
  });

  it("end when nobody could confirm their token for five minutes", async () => {
    const { clock, sessions } = started();
    const secret = sessions.open(ALICE, token) ?? "";
    reviews.problem = "down";
    for (let minute = 0; minute < 6; minute++) {
      expect(sessions.find(secret)).toBeDefined();
      await clock.move(60_000);
    }
    await clock.move(60_000);
    expect(sessions.find(secret)).toBeUndefined();
  });

  it("end when groups are taken away, but not for another credential of the same account", async () => {
    const { clock, sessions } = started();
    const credential = (id: string) => ({ "authentication.kubernetes.io/credential-id": [id] });
    const secret = sessions.open({ ...ALICE, groups: ["dev", "ops"], extra: credential("1") }, token) ?? "";
    reviews.bearers.set("good", { ...ALICE, groups: ["ops", "dev"], extra: credential("2") });
    await clock.move(60_000);
    expect(sessions.find(secret)).toBeDefined();
    reviews.bearers.set("good", { ...ALICE, groups: ["dev"] });
    await clock.move(60_000);
    expect(sessions.find(secret)).toBeUndefined();
  });

  it("last while a page is open, for twelve hours at most", async () => {
    const { clock, sessions } = started();
    const secret = sessions.open(ALICE, token) ?? "";
    const session = sessions.find(secret);
    const leave = session?.hold();
    for (let minute = 0; minute < 180; minute++) await clock.move(60_000);
    expect(session?.signal.aborted).toBe(false);
    leave?.();
    for (let minute = 0; minute < 59; minute++) await clock.move(60_000);
    expect(session?.signal.aborted).toBe(false);
    session?.hold();
    for (let minute = 0; minute < 490; minute++) await clock.move(60_000);
    expect(session?.signal.aborted).toBe(true);
  });

  it("are looked at together, so that many end in time, and none for want of time", async () => {
    const { clock, sessions } = started();
    const secrets = Array.from({ length: 300 }, (_, i) => sessions.open({ username: `u${i}` }, { ...token, token: `t${i}` }) ?? "");
    for (let i = 0; i < 300; i++) reviews.bearers.set(`t${i}`, { username: `u${i}` });
    let [running, most] = [0, 0];
    const { whoBears } = reviews;
    reviews.whoBears = async (query) => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => setImmediate(resolve));
      running--;
      return whoBears(query);
    };
    reviews.bearers.delete("t299");
    for (let i = 0; i < 10; i++) await clock.move(6_000);
    for (let i = 0; i < 10; i++) await clock.move(0);
    expect(secrets.filter((secret) => sessions.find(secret) !== undefined)).toHaveLength(299);
    expect(most).toBe(16);
  });

  it("end when the token is of another user", async () => {
    const { clock, sessions } = started();
    const secret = sessions.open({ username: "bob" }, token) ?? "";
    await clock.move(60_000);
    expect(sessions.find(secret)).toBeUndefined();
  });

  it("are few: one user's own go first, and nobody's for another user", () => {
    const { sessions } = started(22);
    const bob = sessions.open({ username: "bob" }, token) ?? "";
    const [first = "", ...others] = Array.from({ length: 21 }, () => sessions.open(ALICE, token) ?? "");
    expect([sessions.find(first), sessions.find(bob) !== undefined, others.every((one) => sessions.find(one) !== undefined)]).toEqual([
      undefined,
      true,
      true,
    ]);
    expect(sessions.open({ username: "carol" }, token)).toBeDefined();
    expect(sessions.open({ username: "dave" }, token)).toBeUndefined();
    expect(sessions.find(bob)).toBeDefined();
  });
});
