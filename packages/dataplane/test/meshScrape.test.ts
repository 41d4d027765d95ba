import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@isthmus/core";
import { CODE_CLASSES, SIGNAL_AT } from "@isthmus/core";
import { afterEach, describe, expect, it } from "vitest";
import {
  type MeshScrape,
  type MeshScrapeOptions,
  SCRAPE_LIMITS,
  type ScrapeLimits,
  type ScrapeTarget,
  startMeshScrape,
} from "../src/traffic/meshScrape.ts";
import { parseTrafficAnswer } from "../src/traffic/trafficAnswer.ts";
import { silent, wallClock } from "./wallClock.ts";

const servers: Server[] = [];
const stops: AbortController[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort(new Error("the test is over"));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serving(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const requests = (count: number, service = "reviews") =>
  `istio_requests_total{reporter="source",destination_service_name="${service}",response_code="200"} ${count}\n`;
const target = (pod: string, port: number | undefined, kind: ScrapeTarget["kind"] = "proxy"): ScrapeTarget => ({
  namespace: "shop",
  pod,
  workload: pod.slice(0, 3),
  kind,
  at: port === undefined ? undefined : { address: "127.0.0.1", port, path: "/stats/prometheus" },
});

/** Rounds follow when they are asked for: sleeping ends with `next`. */
function rounds(): { readonly clock: Clock; next(): void; readonly waiting: () => Promise<void> } {
  let wake: (() => void) | undefined;
  let slept: () => void = () => undefined;
  let isWaiting = new Promise<void>((resolve) => {
    slept = resolve;
  });
  return {
    clock: {
      now: () => wallClock.now(),
      sleep: (_, signal) =>
        new Promise((resolve, reject) => {
          wake = resolve;
          signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
          slept();
        }),
    },
    next() {
      isWaiting = new Promise((resolve) => {
        slept = resolve;
      });
      wake?.();
    },
    waiting: () => isWaiting,
  };
}

function scraping(
  targets: () => readonly ScrapeTarget[] | undefined,
  limits: Partial<ScrapeLimits> = {},
  places: Pick<MeshScrapeOptions, "reachedAt"> = {},
) {
  const stop = new AbortController();
  stops.push(stop);
  const pace = rounds();
  const options = {
    targets,
    epoch: "e",
    limits: { ...SCRAPE_LIMITS, ...limits },
    allowance: { loopback: true },
    ...places,
    clock: pace.clock,
    log: silent,
  };
  const scrape = startMeshScrape(options, stop.signal);
  return {
    scrape,
    stop,
    waiting: pace.waiting,
    async round() {
      await pace.waiting();
      pace.next();
      await pace.waiting();
    },
  };
}

function answered(scrape: MeshScrape) {
  const answer = parseTrafficAnswer(scrape.answer(new TextEncoder().encode("{}")));
  const counts = answer?.edges.map(({ edge, signals }) => [
    `${edge.sourceWorkload}>${edge.service}`,
    signals[SIGNAL_AT.codes + CODE_CLASSES.indexOf("2xx")],
  ]);
  return { ...answer, counts: Object.fromEntries(counts ?? []) as Readonly<Record<string, number>> };
}

describe("the scrape of a mesh", () => {
  it("reads a pod where its address is reached, and counts it as that pod; one that is not reached is missing", async () => {
    let count = 1;
    const asked: string[] = [];
    const port = await serving(({ url = "" }, response) => {
      asked.push(url);
      response.end(requests(count));
    });
    const pod = (name: string, address: string) => ({ ...target(name, 15_020), at: { address, port: 15_020, path: "/stats" } });
    const reachedAt = ({ address, path }: { address: string; path: string }) =>
      address === "10.0.0.1" ? { address: "127.0.0.1", port, path: `/${address}${path}` } : undefined;
    const { scrape, round, waiting } = scraping(() => [pod("web-1", "10.0.0.1"), pod("api-1", "10.0.0.2")], {}, { reachedAt });
    await waiting();
    count = 6;
    await round();
    expect(asked).toEqual(["/10.0.0.1/stats", "/10.0.0.1/stats"]);
    expect(answered(scrape)).toMatchObject({ counts: { "web>reviews": 5 }, targets: 2, scraped: 1 });
  });

  it("counts what happens between rounds, a pod that comes later from its beginning, and says who did not answer", async () => {
    let count = 100;
    const port = await serving((_, response) => response.end(requests(count)));
    const istiod = await serving((_, response) => response.end(`pilot_xds{version="1"} 7\npilot_xds_pushes{type="cds"} ${count}\n`));
    const refusing = await serving((_, response) => response.writeHead(503).end());
    const targets = [
      target("web-1", port),
      target("istiod-1", istiod, "controlPlane"),
      target("bad-1", refusing),
      target("new-0", undefined),
    ];
    const { scrape, round, waiting } = scraping(() => targets);
    await waiting();
    expect(answered(scrape)).toMatchObject({ counts: {}, targets: 4, scraped: 2 });
    targets.push(target("new-1", port));
    count = 107;
    await round();
    expect(answered(scrape)).toMatchObject({
      counts: { "web>reviews": 7, "new>reviews": 107 },
      targets: 5,
      scraped: 3,
      controlPlanes: [{ namespace: "shop", workload: "ist", proxies: 7, counts: [7, 0, 0, 0, 0] }],
    });
    expect(scrape.metrics()).toContainEqual({ name: "gloo_mesh_scrapes_total", labels: { result: "failed" }, value: 2 });
  });

  it("loses nothing while a pod does not answer, nor what it counted before its first answer if it is new", async () => {
    let [count, isThere] = [0, true];
    const port = await serving((_, response) => (isThere ? response.end(requests(count)) : response.destroy()));
    const targets = [target("web-1", port)];
    const { scrape, round, waiting } = scraping(() => targets);
    await waiting();
    [count, isThere] = [5, false];
    targets.push(target("new-1", port));
    await round();
    expect(answered(scrape).counts).toEqual({});
    [count, isThere] = [9, true];
    await round();
    expect(answered(scrape).counts).toEqual({ "web>reviews": 9, "new>reviews": 9 });
  });

  it("counts a pod that came but cannot be reached from its first answer on, after three rounds", async () => {
    let [count, isThere] = [5, false];
    const port = await serving((_, response) => (isThere ? response.end(requests(count)) : response.destroy()));
    const targets: ScrapeTarget[] = [];
    const { scrape, round, waiting } = scraping(() => targets);
    await waiting();
    targets.push(target("new-1", port));
    for (let i = 0; i < 4; i++) await round();
    isThere = true;
    await round();
    expect(answered(scrape).counts).toEqual({});
    count = 7;
    await round();
    expect(answered(scrape).counts).toEqual({ "new>reviews": 2 });
  });

  it("takes no more of a pod than it may, and continues with the others", async () => {
    let sent = 0;
    const endless = await serving((_, response) => {
      const write = (): void => {
        sent += 1;
        if (!response.destroyed && response.write(requests(1, `s${sent}`).repeat(100))) setImmediate(write);
        else response.once("drain", write);
      };
      write();
    });
    const hanging = await serving(() => undefined);
    let count = 0;
    const fine = await serving((_, response) => response.end(requests(count)));
    const targets = [target("end-1", endless), target("hang-1", hanging), target("web-1", fine)];
    const { scrape, round, waiting } = scraping(() => targets, { bytes: 100_000, timeoutMs: 200, edges: 10 });
    await waiting();
    count = 3;
    await round();
    const { counts } = answered(scrape);
    expect(counts["web>reviews"]).toBe(3);
    const bytes = scrape.metrics().find(({ name }) => name === "gloo_mesh_scraped_bytes_total")?.value;
    expect(bytes).toBeLessThan(2 * 100_000 + 1_000);
  });

  it("continues in the next round where the bytes of one were used up", async () => {
    const seen: string[] = [];
    const ports = await Promise.all(
      ["a", "b", "c"].map((name) => serving((_, response) => response.end(`# ${seen.push(name)}\n`.padEnd(1_000, " ")))),
    );
    const targets = ports.map((port, i) => target(`w${i}-1`, port));
    const { round, waiting } = scraping(() => targets, { atOnce: 1, roundBytes: 1_500 });
    await waiting();
    expect(seen).toEqual(["a", "b"]);
    await round();
    expect(seen).toEqual(["a", "b", "c", "a"]);
  });

  it("connects to no address of its own machine or link", async () => {
    const stop = new AbortController();
    stops.push(stop);
    let isAsked = false;
    const port = await serving((_, response) => {
      isAsked = true;
      response.end();
    });
    const addresses = ["127.0.0.1", "169.254.169.254", "::1", "fe80::1", "::ffff:127.0.0.1", "not-an-address.example"];
    const targets = addresses.map((address, i): ScrapeTarget => ({ ...target(`w${i}`, port), at: { address, port, path: "/" } }));
    const pace = rounds();
    const scrape = startMeshScrape({ targets: () => targets, epoch: "e", clock: pace.clock, log: silent }, stop.signal);
    await pace.waiting();
    expect(scrape.metrics()).toContainEqual({ name: "gloo_mesh_scrapes_total", labels: { result: "failed" }, value: addresses.length });
    expect(isAsked).toBe(false);
  });

  it("says when it is off, and does not report later what was counted meanwhile", async () => {
    let [count, isOn] = [0, true];
    const port = await serving((_, response) => response.end(requests(count)));
    const { scrape, round, waiting } = scraping(() => (isOn ? [target("web-1", port)] : undefined));
    await waiting();
    [count, isOn] = [50, false];
    await round();
    expect(answered(scrape)).toEqual({ counts: {} });
    [count, isOn] = [60, true];
    await round();
    count = 61;
    await round();
    expect(answered(scrape).counts).toEqual({ "web>reviews": 1 });
  });
});
