import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startConsoleHub, startConsoleServer, storeSource } from "@isthmus/console";
import { type ConsoleActivity, STREAM_PATH } from "@isthmus/console/wire";
import { edgeOfRow, SIGNAL_COUNT, signalRates } from "@isthmus/core";
import {
  clusterReport,
  fleetTraffic,
  type MeshScrape,
  parseTrafficAnswer,
  type ScrapeTarget,
  startMeshScrape,
  windowsOf,
} from "@isthmus/dataplane";
import { ACTIVITY_MINUTES, MOST_ACTIVITY_EDGES, SYNC_BOUNDS, serverRoles, startActivitySharing, systemClock } from "@isthmus/plane";
import { redisStore } from "@isthmus/store";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { type Program, startProgram } from "./harness/childProcess.ts";
import { describeReal } from "./harness/describeReal.ts";
import { freePorts } from "./harness/freePorts.ts";
import { type RealRedis, startRedis } from "./harness/redis.ts";
import { waitFor } from "./harness/waitFor.ts";

// A real Envoy whose cluster is named as Istio names it, scraped as an agent does, and what the server makes of it against what was sent.
describeReal("traffic of a real Envoy", ({ envoy, redis: command }) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-real-mesh-metrics-"));
  const running: AbortController[] = [];
  const traffic = fleetTraffic();
  const received = new Map<MeshScrape, { readonly epoch: string; readonly sequence: number }>();
  let [proxyPort, admin] = [0, 0];
  let proxy: Program | undefined;
  let service: Server | undefined;
  let redis: RealRedis | undefined;

  function startEnvoy(): void {
    const args = ["-c", join(directory, "envoy.yaml"), "--concurrency", "1", "--disable-hot-restart", "--log-level", "warn"];
    proxy = startProgram({ name: "envoy", command: envoy, args, log: join(directory, "envoy.log") });
  }

  /** A leader of an agent. */
  function startScrape(epoch: string): { readonly scrape: MeshScrape; stop(): Promise<void> } {
    const at = { address: "127.0.0.1", port: admin, path: "/stats/prometheus" };
    const target: ScrapeTarget = { namespace: "bookinfo", pod: "productpage-1", workload: "productpage", kind: "proxy", at };
    const stop = new AbortController();
    running.push(stop);
    const options = {
      targets: () => [target],
      epoch,
      limits: { intervalMs: 1_000 },
      allowance: { loopback: true },
      clock: systemClock,
      log: silent,
    };
    const scrape = startMeshScrape(options, stop.signal);
    return {
      scrape,
      async stop() {
        stop.abort(new Error("it does not lead any more"));
        await scrape.ended;
      },
    };
  }

  /** Asks as a server does. Gives how many of the proxies answered in the last round. */
  function ask(scrape: MeshScrape): number {
    const answer = parseTrafficAnswer(scrape.answer(new TextEncoder().encode(JSON.stringify({ received: received.get(scrape) }))));
    if (answer === undefined) return 0;
    received.set(scrape, { epoch: answer.epoch, sequence: answer.sequence });
    traffic.take("east", answer, Date.now());
    return answer.scraped;
  }

  function report() {
    const known = traffic.of("east", 60, Date.now());
    return known === undefined ? undefined : clusterReport("east", known).edges[0];
  }

  async function send(path: string, count: number): Promise<void> {
    for (let i = 0; i < count; i++) await (await fetch(`http://127.0.0.1:${proxyPort}${path}`)).arrayBuffer();
  }

  /** Waits until so many requests were counted: more is as wrong as less. */
  async function counted(scrape: MeshScrape, requests: number): Promise<void> {
    await waitFor(`${requests} requests`, () => {
      ask(scrape);
      return (report()?.requests ?? 0) >= requests * 0.99;
    });
    expect(report()?.requests).toBeLessThanOrEqual(requests * 1.01);
  }

  beforeAll(async () => {
    const [one = 0, two = 0, three = 0] = await freePorts(3);
    [proxyPort, admin] = [one, two];
    service = createServer((request, response) => {
      const answer = () => response.writeHead(request.url === "/broken" ? 503 : 200).end("x".repeat(1_000));
      setTimeout(answer, request.url === "/slow" ? 60 : 0);
    });
    await new Promise<void>((resolve) => service?.listen(three, "127.0.0.1", resolve));
    writeFileSync(join(directory, "envoy.yaml"), stringify(bootstrap({ proxyPort, admin, servicePort: three })));
    startEnvoy();
    await waitFor("Envoy to answer", async () => (await fetch(`http://127.0.0.1:${proxyPort}/ready`)).status === 200);
  });

  afterAll(async () => {
    for (const stop of running) stop.abort(new Error("the test is over"));
    await proxy?.stop();
    await redis?.stop();
    service?.closeAllConnections();
    service?.close();
  });

  it("is what was sent, within 1 %: requests, errors, durations, bytes; also after Envoy began again, and another replica leads", async () => {
    const first = startScrape("first");
    await waitFor("the first scrape", () => ask(first.scrape) === 1);
    await send("/fine", 300);
    await send("/broken", 60);
    await send("/slow", 40);
    await counted(first.scrape, 400);
    // Envoy merges its histograms every five seconds.
    await waitFor("the durations", () => {
      ask(first.scrape);
      return (report()?.p99Ms ?? 0) > 0;
    });
    const {
      destination,
      source,
      errors = 0,
      p50Ms = 0,
      p99Ms = 0,
      responseBytesPerSecond = 0,
    } = report() ?? expect.fail("nothing is known");
    expect([source, destination]).toEqual([
      { namespace: "bookinfo", workload: "productpage" },
      { namespace: "bookinfo", service: "reviews", workload: "", cluster: "" },
    ]);
    expect(Math.abs(errors - 60)).toBeLessThanOrEqual(0.6);
    expect(p50Ms).toBeLessThan(50);
    expect(p99Ms).toBeGreaterThan(50);
    expect(responseBytesPerSecond).toBeGreaterThan(1_000);

    // Its counters begin at 0 again.
    await proxy?.stop();
    startEnvoy();
    await waitFor("Envoy to answer", async () => (await fetch(`http://127.0.0.1:${proxyPort}/ready`)).status === 200);
    await send("/fine", 99);
    await counted(first.scrape, 500);

    await first.stop();
    const second = startScrape("second");
    await waitFor("the first scrape of the second replica", () => ask(second.scrape) === 1);
    await send("/fine", 100);
    await counted(second.scrape, 600);

    // By the host name under which a Service of another cluster is federated.
    await send("/federated", 50);
    const elsewhere = () => {
      const { edges } = clusterReport("east", traffic.of("east", 60, Date.now()) ?? expect.fail("nothing is known"));
      return edges.find(({ destination }) => destination.cluster === "c2");
    };
    await waitFor("50 requests to the other cluster", () => {
      ask(second.scrape);
      return (elsewhere()?.requests ?? 0) >= 50;
    });
    expect(elsewhere()).toMatchObject({
      requests: 50,
      destination: { namespace: "bookinfo", service: "reviews", workload: "", cluster: "c2" },
    });
    expect(report()?.requests).toBeLessThanOrEqual(606);
  });

  it("is the same, within 1 %, in what a browser is sent that reads the console over a real Redis, with its time", async () => {
    redis = await startRedis(command, directory, { persistent: false });
    const stop = new AbortController();
    running.push(stop);
    const keys = async () => ({ key: Buffer.alloc(32, "of-a-test") });
    const [writing, reading] = [{}, { isReader: true }].map((more) =>
      redisStore((redis as RealRedis).settings, { keys, log: silent, ...more }),
    );
    if (writing === undefined || reading === undefined) return expect.fail("there is no store");
    const at = Date.now();
    const counted = windowsOf(traffic, "east", { minutes: ACTIVITY_MINUTES, now: at, most: MOST_ACTIVITY_EDGES });
    const activity = { clusterName: "east", at, sync: [...SYNC_BOUNDS.map(() => 0), 0], traffic: counted };
    const shared = { store: writing, instance: "a", activity: () => [activity], isRegistered: () => true, clock: systemClock, log: silent };
    startActivitySharing(shared, stop.signal);
    const { kinds } = serverRoles("gloo-mesh");
    const about = { kinds, namespace: "gloo-mesh", name: "Redis", version: "test", clock: systemClock, log: silent };
    const source = storeSource({ store: reading, ...about }, stop.signal);
    const hub = startConsoleHub({ source, epoch: "test", clock: systemClock, log: silent, readMs: 50 }, stop.signal);
    const served = await startConsoleServer({ host: "127.0.0.1", port: 0, hub, log: silent });
    try {
      const sent = await activityOf(`http://127.0.0.1:${served.port}${STREAM_PATH}`);
      expect(sent).toMatchObject({ cluster: "east", at: new Date(at).toISOString(), traffic: { targets: 1, scraped: 1, left: 0 } });
      const [row] = sent.traffic?.edges ?? [];
      const ofWindows = ACTIVITY_MINUTES.length * SIGNAL_COUNT;
      // One moment is known so far, of which each edge has two numbers.
      expect(sent.traffic?.times).toEqual([new Date(at).toISOString()]);
      const { edge, numbers } = edgeOfRow(row, ofWindows + 2) ?? expect.fail("there is no edge");
      expect([edge.sourceWorkload, edge.service]).toEqual(["productpage", "reviews"]);
      const ofHour = numbers.slice(SIGNAL_COUNT, ofWindows);
      const { requests, errors, p50Ms = 0, p99Ms = 0 } = signalRates(ofHour, sent.traffic?.windows[1]?.seconds ?? 0);
      expect(Math.abs(requests - 600)).toBeLessThanOrEqual(6);
      expect(Math.abs(errors - 60)).toBeLessThanOrEqual(0.6);
      expect(p50Ms).toBeLessThan(50);
      expect(p99Ms).toBeGreaterThan(50);
    } finally {
      stop.abort(new Error("the test is over"));
      await served.close();
      await Promise.all([writing.close(), reading.close()]);
    }
  });
});

/** The first word about a cluster's activity in a stream. */
async function activityOf(url: string): Promise<ConsoleActivity> {
  const response = await fetch(url);
  let text = "";
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(part).toString();
    const found = text
      .split("\n\n")
      .slice(0, -1)
      .find((block) => block.includes("event: activity\n"));
    if (found === undefined) continue;
    return JSON.parse(found.slice(found.indexOf("data: ") + "data: ".length)) as ConsoleActivity;
  }
  return expect.fail("the stream has ended");
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const EXTENSIONS = "type.googleapis.com/envoy.extensions";

function bootstrap({ proxyPort, admin, servicePort }: Readonly<Record<"proxyPort" | "admin" | "servicePort", number>>): object {
  const at = (port: number) => ({ socket_address: { address: "127.0.0.1", port_value: port } });
  const name = "outbound|9080||reviews.bookinfo.svc.cluster.local";
  const federated = "outbound|9080||reviews.bookinfo.svc.c2.global";
  const routeOf = (prefix: string, cluster: string) => ({ match: { prefix }, route: { cluster } });
  const router = { name: "envoy.filters.http.router", typed_config: { "@type": `${EXTENSIONS}.filters.http.router.v3.Router` } };
  const manager = {
    "@type": `${EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "outbound",
    http_filters: [router],
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [routeOf("/federated", federated), routeOf("/", name)] }] },
  };
  return {
    admin: { address: at(admin) },
    // As Istio's proxies have them. Source: istio.io/istio, tools/packaging/common/envoy_bootstrap.json.
    stats_config: {
      use_all_default_tags: false,
      stats_tags: [
        { tag_name: "cluster_name", regex: "^cluster(\\.(.+);)" },
        { tag_name: "response_code", regex: "_rq(_(\\d{3}))$" },
        { tag_name: "response_code_class", regex: "_rq(_(\\dxx))$" },
      ],
    },
    static_resources: {
      clusters: [name, federated].map((each) => ({
        name: each,
        alt_stat_name: `${each};`,
        type: "STRICT_DNS",
        connect_timeout: "1s",
        load_assignment: { cluster_name: each, endpoints: [{ lb_endpoints: [{ endpoint: { address: at(servicePort) } }] }] },
      })),
      listeners: [
        {
          name: "outbound",
          address: at(proxyPort),
          filter_chains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }] }],
        },
      ],
    },
  };
}
