import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ConsoleServer, type FleetSource, startConsoleHub, startConsoleServer, storeSource } from "@isthmus/console";
import { type AnyResource, type Log, noSignals, type Resource, type ResourceRef, SIGNAL_AT } from "@isthmus/core";
import type { Insight } from "@isthmus/insights";
import { type Store, SYNC_BOUNDS, serverRoles, startActivitySharing, systemClock } from "@isthmus/plane";
import { readFleet, redisStore } from "@isthmus/store";
import axe from "axe-core";
import { chromium, type Page } from "playwright-core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { startProgram } from "../harness/childProcess.ts";
import { PAGE_PATIENCE_MS } from "../harness/chromium.ts";
import { describeReal } from "../harness/describeReal.ts";
import { findChromium } from "../harness/findChromium.ts";
import { freePorts } from "../harness/freePorts.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { bookinfoMesh, type SimulatedFleet, simulatedFleet } from "./simulatedFleet.ts";

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const keys = async () => ({ key: Buffer.alloc(32, "of-a-test") });
// A machine on which others work too takes many times as long.
const soon = { timeout: 240_000, interval: 50 };
const namespace = "gloo-mesh";

/** What a browser holds: it folds in what it is sent. */
interface Browser {
  readonly seen: readonly string[];
  readonly objects: ReadonlyMap<string, Resource>;
  readonly generated: ReadonlyMap<string, Resource>;
  readonly insights: ReadonlyMap<string, readonly object[]>;
  readonly insightsAt: string | undefined;
  readonly clock:
    | {
        readonly at: string;
        readonly problem?: string;
        readonly clusters: readonly { readonly name: string }[];
        readonly servers?: readonly object[];
      }
    | undefined;
}

// The real loops and a real Redis; clusters and network are simulated.
describeReal("a console over a real Redis", ({ redis: command }) => {
  let directory: string;
  let redis: RealRedis;
  let fleet: SimulatedFleet;
  let stop: AbortController;
  let served: ConsoleServer | undefined;
  const stores: Store[] = [];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "isthmus-console-"));
    redis = await startRedis(command, directory, { persistent: true });
    fleet = simulatedFleet(silent);
    stop = new AbortController();
    fleet.startServer("a", { store: open(redis) });
    for (const name of ["cluster-1", "cluster-2"]) {
      fleet.route(name, "a");
      fleet.startAgent(name);
    }
    await fleet.management.create(bookinfoMesh);
    await vi.waitFor(async () => {
      for (const clusterName of ["cluster-1", "cluster-2"]) {
        expect((await stores[0]?.head({ section: "input", clusterName }))?.complete).toBe(true);
        const { kinds = {} } = (await stores[0]?.head({ section: "translated", clusterName })) ?? {};
        expect(kinds["networking.istio.io/ServiceEntry"]?.count ?? 0).toBeGreaterThan(2);
      }
      expect((await stores[0]?.head({ section: "insights", clusterName: "" }))?.complete).toBe(true);
      // With the status that the server has written: what is stored while it has not yet is all that is known once it has ended.
      const stored: AnyResource[] = [];
      for (const { objects } of await readFleet(stores[0] as Store, "management"))
        for await (const page of objects("networking.mesh.gloo.solo.io/VirtualMesh")) stored.push(...page);
      expect(stored).toMatchObject([{ metadata: { name: "bookinfo" }, status: { state: "ACCEPTED" } }]);
    }, soon);
  });
  afterEach(async () => {
    stop.abort();
    await served?.close();
    await fleet.stop();
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await redis.stop();
    rmSync(directory, { recursive: true });
  });

  function open({ settings }: Pick<RealRedis, "settings">, more: { readonly isReader?: boolean; readonly keys?: typeof keys } = {}): Store {
    const store = redisStore(settings, { keys, log: silent, ...more });
    stores.push(store);
    return store;
  }

  async function serve(store: Store, clock = systemClock): Promise<FleetSource> {
    const { kinds } = serverRoles(namespace);
    const source = storeSource({ store, kinds, namespace, name: "Redis", version: "test", clock, log: silent }, stop.signal);
    const hub = startConsoleHub({ source, epoch: "test", clock: systemClock, log: silent, readMs: 50, clockMs: 100 }, stop.signal);
    served = await startConsoleServer({ host: "127.0.0.1", port: 0, hub, log: silent });
    return source;
  }

  function browse(): Browser {
    const [objects, generated] = [new Map<string, Resource>(), new Map<string, Resource>()];
    const insights = new Map<string, readonly object[]>();
    const browser = { seen: [] as string[], objects, generated, insights, insightsAt: undefined, clock: undefined as Browser["clock"] };
    void (async () => {
      const response = await fetch(`http://127.0.0.1:${served?.port}/api/v1/stream`, { signal: stop.signal });
      let text = "";
      for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += Buffer.from(part).toString();
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          take(browser, text.slice(0, end));
          text = text.slice(end + 2);
        }
      }
    })().catch(() => undefined);
    return browser;
  }

  async function ready(): Promise<Browser> {
    const browser = browse();
    await vi.waitFor(() => expect(browser.seen).toContain("ready"), soon);
    return browser;
  }

  it("shows the fleet as servers left it, and writes nothing", async () => {
    await fleet.stopAgent("cluster-1");
    await fleet.stopServer("a");
    const before = contents(redis);
    const { about } = await serve(open(redis, { isReader: true }));
    expect(about).toEqual({ kind: "store", name: "Redis", version: "test", namespace });
    const browser = await ready();
    expect([...browser.objects.keys()]).toEqual(
      expect.arrayContaining([
        "Service/bookinfo/reviews/cluster-1",
        "Service/bookinfo/reviews/cluster-2",
        "Namespace//istio-system/cluster-1",
      ]),
    );
    expect([...browser.objects.keys()]).toEqual(
      expect.arrayContaining(["VirtualMesh/gloo-mesh/bookinfo/", "KubernetesCluster/gloo-mesh/cluster-1/"]),
    );
    expect(browser.objects.get("VirtualMesh/gloo-mesh/bookinfo/")).toMatchObject({ status: { state: "ACCEPTED" } });
    expect([...browser.objects.keys()].filter((key) => key.startsWith("Secret/"))).toEqual([]);
    // Discovered here, with what is in force there.
    const reviews = browser.objects.get("Destination/gloo-mesh/reviews-bookinfo-cluster-1/");
    expect(reviews).toMatchObject({ status: { appliedFederation: { federatedHostname: "reviews.bookinfo.svc.cluster-1.global" } } });
    expect([...browser.objects.keys()].filter((key) => key.startsWith("Mesh/"))).toEqual([
      "Mesh/gloo-mesh/istiod-istio-system-cluster-1/",
      "Mesh/gloo-mesh/istiod-istio-system-cluster-2/",
    ]);
    expect([...browser.generated.values()].filter(({ kind }) => kind === "ServiceEntry").length).toBeGreaterThan(4);
    expect([...browser.insights.values()].flat().length).toBeGreaterThan(0);
    await vi.waitFor(() => expect(browser.clock?.clusters.map(({ name }) => name)).toEqual(["cluster-1", "cluster-2"]), soon);
    expect(contents(redis)).toEqual(before);
  });

  it("finds out itself what is wrong while no server does, as the last one did", async () => {
    await serve(open(redis, { isReader: true }));
    const kept = await ready();
    const found = ({ insights }: Browser) =>
      [...insights]
        .flatMap(([key, list]) => (list as readonly Insight[]).map(({ code, field, message }) => [key, code, field, message].join(" ")))
        .sort();
    await vi.waitFor(() => expect(found(kept).join("\n")).toMatch(/Destination.* RES1002/), soon);
    await fleet.stopServer("a");
    stop.abort();
    await served?.close();
    stop = new AbortController();
    const later = 10 * 60_000;
    await serve(open(redis, { isReader: true }), { ...systemClock, now: () => systemClock.now() + later });
    const own = await ready();
    expect(found(own)).toEqual(found(kept));
    await vi.waitFor(() => expect(Date.parse(own.insightsAt ?? "") - Date.parse(kept.insightsAt ?? "")).toBeGreaterThan(later / 2), soon);
  });

  it("keeps what the last server found while something of a registered cluster is not in the store", async () => {
    await fleet.management.create({
      apiVersion: "multicluster.solo.io/v1alpha1",
      kind: "KubernetesCluster",
      metadata: { name: "cluster-9", namespace },
    });
    await vi.waitFor(async () => {
      const { kinds = {} } = (await stores[0]?.head({ section: "management", clusterName: "" })) ?? {};
      expect(kinds["multicluster.solo.io/KubernetesCluster"]?.count).toBe(3);
    }, soon);
    await fleet.stopServer("a");
    const [kept] = await readFleet(stores[0] as Store, "insights");
    await serve(open(redis, { isReader: true }), { ...systemClock, now: () => systemClock.now() + 10 * 60_000 });
    const own = await ready();
    expect(Date.parse(own.insightsAt ?? "")).toBe(kept?.meta["at"]);
  });

  it("follows what is written, at the cost of what changed", async () => {
    await serve(open(redis, { isReader: true }));
    const browser = await ready();
    const count = browser.seen.filter((name) => name === "change").length;
    await fleet.cluster("cluster-1").create(service("fresh"));
    await vi.waitFor(() => expect(browser.objects.has("Service/bookinfo/fresh/cluster-1")).toBe(true), soon);
    await vi.waitFor(
      () => expect([...browser.objects.keys()].some((key) => key.startsWith("Destination/") && key.includes("fresh"))).toBe(true),
      soon,
    );
    expect(browser.seen.filter((name) => name === "change").length - count).toBeLessThan(8);
    await fleet.cluster("cluster-1").delete({ ...refTo(service("fresh")), clusterName: "cluster-1" });
    await vi.waitFor(() => expect(browser.objects.has("Service/bookinfo/fresh/cluster-1")).toBe(false), soon);
  });

  it("keeps what it knows while Redis does not answer, or has lost all of it, and says so", async () => {
    await serve(open(redis, { isReader: true }));
    const browser = await ready();
    await fleet.stopServer("a");
    const before = [...browser.objects.keys()];
    await redis.kill();
    await vi.waitFor(() => expect(browser.clock?.problem).toBeDefined(), soon);
    const { at } = browser.clock as NonNullable<Browser["clock"]>;
    // What the server wrote last may have come until then.
    expect([...browser.objects.keys()]).toEqual(expect.arrayContaining(before));
    const known = browser.objects.size;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(browser.clock?.at).toBe(at);
    await redis.restartEmpty();
    await vi.waitFor(() => expect(browser.clock?.problem).toMatch(/no longer has/), soon);
    expect(browser.objects.size).toBe(known);
    expect(browser.seen.filter((name) => name === "reset")).toHaveLength(1);
  });

  it("shows nothing that was not signed with the key", async () => {
    await fleet.stopServer("a");
    await serve(open(redis, { isReader: true, keys: async () => ({ key: Buffer.alloc(32, "of-somebody-else") }) }));
    const browser = browse();
    await vi.waitFor(() => expect(browser.seen).toContain("clock"), soon);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(browser.objects.size).toBe(0);
    expect(browser.generated.size).toBe(0);
    expect(browser.insights.size).toBe(0);
  });

  it("shows no older state that somebody has restored", async () => {
    await serve(open(redis, { isReader: true }));
    const browser = await ready();
    const before = redis.cli("--scan").split("\n");
    for (const key of before) redis.cli("COPY", key, `saved:${key}`);
    await fleet.cluster("cluster-1").create(service("fresh"));
    await vi.waitFor(() => expect(browser.objects.has("Service/bookinfo/fresh/cluster-1")).toBe(true), soon);
    await fleet.stopServer("a");
    for (const key of before) redis.cli("COPY", `saved:${key}`, key, "REPLACE");
    await vi.waitFor(() => expect(browser.clock?.problem).toMatch(/older state of \w+ of/), soon);
    expect(browser.objects.has("Service/bookinfo/fresh/cluster-1")).toBe(true);
  });

  it("is a program that is given Redis and the key, and ends when it is asked to", async () => {
    await fleet.stopServer("a");
    writeFileSync(join(directory, "key"), (await keys()).key.toString("base64"));
    const [port = 0, adminPort = 0] = await freePorts(2);
    const program = startProgram({
      name: "ui",
      command: process.execPath,
      args: [
        fileURLToPath(new URL("../../../apps/ui/bin/ui.js", import.meta.url)),
        ...[
          "--redis-address",
          `127.0.0.1:${redis.settings.port}`,
          "--store-key",
          directory,
          "--port",
          `${port}`,
          "--admin-port",
          `${adminPort}`,
        ],
      ],
      log: join(directory, "ui.log"),
    });
    await vi.waitFor(() => expect(program.output()).toContain(`the console is at http://127.0.0.1:${port}/`), soon);
    served = { port, streams: 0, setSecureContext: nothing, close: () => program.stop() };
    const browser = await ready();
    expect([...browser.objects.keys()]).toContain("Service/bookinfo/reviews/cluster-1");
    expect(await probe(adminPort, "/healthz")).toEqual([200, "ok\n"]);
    expect(await probe(adminPort, "/readyz")).toEqual([200, "ready\n"]);
    const [, figures] = await probe(adminPort, "/metrics");
    expect(figures).toMatch(/^gloo_mesh_console_streams 1$/m);
    expect(Number(/^gloo_mesh_console_age_seconds (.*)$/m.exec(figures)?.[1])).toBeLessThan(30);
    // What is shown is nowhere but on loopback.
    expect((await probe(adminPort, "/api/v1/stream"))[0]).toBe(404);
    await seesPages(`http://127.0.0.1:${port}`);
    await program.stop();
    expect(await program.ended).toBe(0);
  });

  it("shows in Chromium what was counted: in the graph, in its table, and on the pages of objects; of others that nobody counts", async () => {
    const edge = {
      sourceNamespace: "bookinfo",
      sourceWorkload: "productpage-v1",
      namespace: "bookinfo",
      service: "reviews",
      workload: "",
      cluster: "",
    };
    const signals = noSignals();
    for (const [place, count] of [
      [SIGNAL_AT.codes + 2, 297],
      [SIGNAL_AT.codes + 5, 3],
      [SIGNAL_AT.buckets + 4, 300],
    ] as const)
      signals[place] = count;
    const windows = [5, 60].map((minutes) => ({ minutes, seconds: 300 }));
    const traffic = { windows, targets: 1, scraped: 1, left: 0, edges: [{ edge, signals: [signals, signals] }] };
    const sync = [...SYNC_BOUNDS.map((_, i) => (i === 9 ? 20 : 0)), 0];
    const activity = () => [{ clusterName: "cluster-1", at: Date.now(), sync, traffic }];
    const isRegistered = () => true;
    startActivitySharing({ store: open(redis), instance: "a", activity, isRegistered, clock: systemClock, log: silent }, stop.signal);
    writeFileSync(join(directory, "key"), (await keys()).key.toString("base64"));
    const [port = 0, adminPort = 0] = await freePorts(2);
    const address = ["--redis-address", `127.0.0.1:${redis.settings.port}`, "--store-key", directory];
    const program = startProgram({
      name: "ui",
      command: process.execPath,
      args: [
        fileURLToPath(new URL("../../../apps/ui/bin/ui.js", import.meta.url)),
        ...address,
        "--port",
        `${port}`,
        "--admin-port",
        `${adminPort}`,
      ],
      log: join(directory, "ui.log"),
    });
    try {
      await vi.waitFor(() => expect(program.output()).toContain("the console is at"), soon);
      await seesTraffic(`http://127.0.0.1:${port}`);
    } finally {
      await program.stop();
    }
  }, 120_000);

  it("needs no right to write", async () => {
    redis.cli("ACL", "SETUSER", "reader", "on", ">word", "~gloo-mesh:*", "&gloo-mesh:*", "-@all", ...READER_RIGHTS);
    const settings = { ...redis.settings, username: "reader", password: "word" };
    await serve(open({ settings }, { isReader: true }));
    const browser = await ready();
    expect([...browser.objects.keys()]).toContain("Service/bookinfo/reviews/cluster-1");
    await fleet.cluster("cluster-1").create(service("fresh"));
    await vi.waitFor(() => expect(browser.objects.has("Service/bookinfo/fresh/cluster-1")).toBe(true), soon);
    expect(browser.clock?.problem).toBeUndefined();
    // Also which servers run: a name without a record stays where it is.
    expect(browser.clock?.servers).toEqual([{ version: "1.4.0", replicas: 1 }]);
    const names =
      redis
        .cli("KEYS", "gloo-mesh:*replicas*")
        .trim()
        .split("\n")
        .find((key) => redis.cli("TYPE", key).trim() === "set") ?? "";
    redis.cli("SADD", names, "gone");
    fleet.startServer("b", { store: open(redis) });
    await vi.waitFor(() => expect(browser.clock?.servers).toEqual([{ version: "1.4.0", replicas: 2 }]), soon);
    expect(browser.clock?.problem).toBeUndefined();
  });

  it("says which servers run only as long as that can be read, and shows the fleet all the same", async () => {
    redis.cli("ACL", "SETUSER", "reader", "on", ">word", "~gloo-mesh:*", "&gloo-mesh:*", "-@all", ...READER_RIGHTS);
    await serve(open({ settings: { ...redis.settings, username: "reader", password: "word" } }, { isReader: true }));
    const browser = await ready();
    await vi.waitFor(() => expect(browser.clock?.servers).toEqual([{ version: "1.4.0", replicas: 1 }]), soon);
    await fleet.stopServer("a");
    const names =
      redis
        .cli("KEYS", "gloo-mesh:*replicas*")
        .trim()
        .split("\n")
        .find((key) => redis.cli("TYPE", key).trim() === "set") ?? "";
    redis.cli("SET", names, "somebody else's");
    await vi.waitFor(() => expect(browser.clock?.servers).toBeUndefined(), soon);
    expect(browser.clock?.problem).toBeUndefined();
    expect([...browser.objects.keys()]).toContain("Service/bookinfo/reviews/cluster-1");
    expect(redis.cli("GET", names).trim()).toBe("somebody else's");
  });
});

async function seesTraffic(url: string): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === undefined) return expect.fail("Chromium is not installed: run tests/real/install.sh");
  const chrome = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await chrome.newPage({ viewport: { width: 1600, height: 900 } });
    page.setDefaultTimeout(PAGE_PATIENCE_MS);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(`${url}/topology`);
    const label = page.locator(".react-flow__edge-textwrapper").filter({ hasText: "1.00/s" }).first();
    for (const line of ["1.00/s", "1 % errors", "p95 49 ms"]) await label.getByText(line, { exact: true }).waitFor();
    await page.getByText(/cluster-1: Means of 5 min that were counted of the last 5 min, until/).waitFor();
    await page.getByText(/cluster-2: No traffic data/).waitFor();
    expect(await faultsOn(page)).toEqual([]);
    await page.goto(`${url}/topology?view=table&minutes=60&q=type:traffic`);
    const cells = page.getByRole("row").filter({ hasText: "bookinfo/reviews" }).first();
    for (const text of ["1.00", "1 %", "49 ms"]) await cells.getByText(text, { exact: true }).first().waitFor();
    await page.getByText(/counted of the last 1 h, until/).waitFor();
    const objects = `${url}/object/discovery.mesh.gloo.solo.io`;
    await page.goto(`${objects}/Destination/_/gloo-mesh/reviews-bookinfo-cluster-1`);
    const table = page.getByRole("group", { name: "Traffic" });
    await table.getByText("bookinfo/productpage-v1").waitFor();
    await table.getByText("1.00").waitFor();
    expect(await faultsOn(page)).toEqual([]);
    await page.goto(`${objects}/Destination/_/gloo-mesh/reviews-bookinfo-cluster-2`);
    await page.getByText(/No traffic data/).waitFor();
    await page.goto(`${url}/clusters`);
    await page.getByText("Sync p95").first().waitFor();
    await page.getByText("975 ms").waitFor();
    expect(problems).toEqual([]);
  } finally {
    await chrome.close();
  }
}

async function faultsOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly failureSummary?: string }[] }[];
  };
  return violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary }) => `${id} ${failureSummary}`));
}

async function probe(port: number, path: string): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return [response.status, await response.text()];
}

/** Clusters, policies, what is in force, and insights are there without a server. */
async function seesPages(url: string): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === undefined) return expect.fail("Chromium is not installed: run tests/real/install.sh");
  // Its sandbox needs rights that containers do not have; what it opens is ours.
  const chrome = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await chrome.newPage();
    page.setDefaultTimeout(PAGE_PATIENCE_MS);
    const shows = async (path: string, ...texts: readonly string[]): Promise<void> => {
      await page.goto(`${url}${path}`);
      for (const text of texts) await page.getByText(text).filter({ visible: true }).first().waitFor();
    };
    await shows("/clusters", "cluster-1", "cluster-2");
    await shows("/policies", "VirtualMesh", "bookinfo", "Accepted");
    await shows(
      "/object/discovery.mesh.gloo.solo.io/Destination/_/gloo-mesh/reviews-bookinfo-cluster-1",
      "reviews.bookinfo.svc.cluster-1.global",
    );
    await shows("/insights", "RES1002");
  } finally {
    await chrome.close();
  }
}

// As docs/operations has them.
const READER_RIGHTS = ["+@read", "+@connection", "+eval", "+evalsha", "+subscribe", "+info"];

function service(name: string): Resource {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "bookinfo" },
    spec: { ports: [{ name: "http", port: 80, targetPort: 80, protocol: "TCP" }], selector: { app: "reviews" } },
  } as Resource;
}

function refTo({ apiVersion, kind, metadata: { name, namespace: of = "" } }: Resource): ResourceRef {
  return { apiVersion, kind, name, namespace: of, clusterName: "" };
}

/** Everything in Redis. */
function contents(redis: RealRedis): readonly string[] {
  const keysOf = redis.cli("--scan").split("\n").sort();
  return keysOf.map((key) => `${key} ${redis.cli("DEBUG", "DIGEST-VALUE", key)}`);
}

function keyOf({
  kind,
  name,
  namespace: of = "",
  clusterName = "",
}: {
  kind: string;
  name: string;
  namespace?: string;
  clusterName?: string;
}): string {
  return `${kind}/${of}/${name}/${clusterName}`;
}

function take(browser: { -readonly [M in keyof Browser]: Browser[M] }, event: string): void {
  const fields = new Map(event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  const name = fields.get("event") ?? "";
  const data = JSON.parse(fields.get("data") ?? "null");
  (browser.seen as string[]).push(name);
  if (name === "clock") browser.clock = data;
  if (name === "insights") browser.insightsAt = data.at;
  if (name === "insights")
    for (const { object, insights } of data.changed) (browser.insights as Map<string, readonly object[]>).set(keyOf(object), insights);
  if (name !== "change" && name !== "generated") return;
  const map = (name === "change" ? browser.objects : browser.generated) as Map<string, Resource>;
  for (const ref of data.remove) map.delete(keyOf(ref));
  for (const resource of data.put) map.set(keyOf({ kind: resource.kind, ...resource.metadata }), resource);
}
