import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FleetSource, startConsoleHub, startConsoleServer } from "@isthmus/console";
import { type Log, type Resource, type Snapshot, snapshotOf } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { translate } from "@isthmus/translators";
import type { Browser, CDPSession, Page } from "playwright-core";
import { findChromium } from "../real/harness/findChromium.ts";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { clusterName, fleetObjects, serviceAt } from "./fleet.ts";
import { OPTIONS } from "./fleetTranslation.ts";
import { percentile, rounded } from "./measure.ts";

/** What every second changes in the fleet. */
const CHANGES_A_SECOND = 40;

/**
 * The console in Chromium, on a large fleet: what is painted first, when everything is there, a filter, what a policy would do, and the heap of
 * the page before and after a fleet that changes all the time (`--seconds`, by default a minute).
 */
export async function* consoleBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    yield { name: "console: Chromium is not installed" };
    return;
  }
  // Read here: the processes of all other benchmarks would hold them too, 50 MiB.
  const [{ chromium }, { bundleClient }] = await Promise.all([import("playwright-core"), import("../../tools/build.mjs")]);
  const { smoke, clusters = smoke ? 3 : 50, services = smoke ? 10 : 400, seconds = smoke ? 2 : 60 } = options;
  const fleet = changingFleet(clusters, services);
  const stop = new AbortController();
  const files = mkdtempSync(join(tmpdir(), "isthmus-console-"));
  await bundleClient(join(process.cwd(), "apps/ui"), files);
  const hub = startConsoleHub({ source: fleet.source, epoch: "bench", clock: systemClock, log: SILENT }, stop.signal);
  const served = await startConsoleServer({ host: "127.0.0.1", port: 0, hub, files, log: SILENT });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const url = `http://127.0.0.1:${served.port}`;
  try {
    const size = { clusters, services: clusters * services, objects: fleet.objects, generated: fleet.generated };
    yield { name: "console", ...size, ...(await loaded(browser, url, smoke ? 1 : 5)) };
    const { page, session } = await opened(browser, `${url}/destinations`);
    yield { name: "console filter", ...(await filtered(page, smoke ? 3 : 20)) };
    yield { name: "console churn", ...(await churned({ page, session, fleet, seconds })) };
    yield { name: "console what-if", ...(await whatIf(browser, url)) };
  } finally {
    await browser.close();
    await served.close();
    stop.abort(new Error("the benchmark has ended"));
    await hub.ended;
    rmSync(files, { recursive: true });
  }
}

interface ChangingFleet {
  readonly source: FleetSource;
  readonly objects: number;
  readonly generated: number;
  /** Changes some Destinations. */
  change(count: number): void;
}

function changingFleet(clusters: number, services: number): ChangingFleet {
  const given = snapshotOf([...fleetObjects({ clusters, servicesPerCluster: services, podsPerService: 1 })]);
  const { attached, networking } = translate(given, OPTIONS);
  const generated = snapshotOf([...networking].map(({ resource }) => resource));
  let snapshot: Snapshot = attached;
  const destinations = [...attached.collections()].flatMap(([kind, all]) => (kind.endsWith("/Destination") ? [...all] : []));
  let round = 0;
  const known = {
    insights: { at: null, objects: snapshotOf([]).of(NO_KIND) as never, unknown: [], ended: [], forgotten: [] },
    certificates: [],
  };
  return {
    source: {
      about: { kind: "server", name: "bench", version: "0", namespace: "gloo-mesh" },
      read: async () => ({ ...known, objects: new Map([["all", snapshot]]), generated: new Map([["", generated]]) }),
      clock: () => ({ at: new Date().toISOString(), clusters: [] }),
    },
    objects: [...attached.collections().values()].reduce((sum, all) => sum + all.size, 0),
    generated: networking.size,
    change(count) {
      const put = Array.from({ length: count }, (): Resource => {
        const object = destinations[round++ % destinations.length] as Resource;
        const labels = { ...object.metadata.labels, round: String(round) };
        return { ...object, metadata: { ...object.metadata, labels } };
      });
      snapshot = snapshot.apply({ put, remove: [] });
    },
  };
}

const NO_KIND = { apiVersion: "v1", kind: "Nothing", plural: "nothings", namespaced: true, versions: [], parse: () => undefined as never };

/** Fresh pages: the first paint, and when the table is there. */
async function loaded(browser: Browser, url: string, times: number) {
  const [paints, tables]: [number[], number[]] = [[], []];
  for (let i = 0; i < times; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${url}/destinations`);
    await page.locator(".table-row").first().waitFor({ timeout: 120_000 });
    tables.push(await page.evaluate<number>("performance.now()"));
    paints.push(await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"));
    await context.close();
  }
  return {
    firstPaintP50Ms: rounded(percentile(paints, 50)),
    firstPaintMaxMs: rounded(Math.max(...paints)),
    tableP50Ms: rounded(percentile(tables, 50)),
    tableMaxMs: rounded(Math.max(...tables)),
  };
}

async function opened(browser: Browser, url: string): Promise<{ readonly page: Page; readonly session: CDPSession }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.locator(".table-row").first().waitFor({ timeout: 120_000 });
  return { page, session: await context.newCDPSession(page) };
}

/** From a key to the frame that shows the count of what matches. */
async function filtered(page: Page, times: number) {
  const durations: number[] = [];
  for (let i = 0; i < times; i++) {
    durations.push(
      await page.evaluate<number>(`new Promise((resolve) => {
        const field = document.querySelector('input[type="search"]');
        const count = document.querySelector('.count');
        const before = count.textContent;
        const begin = performance.now();
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, ${JSON.stringify(i % 2 === 0 ? `cluster:${clusterName(i % 3)}` : "")});
        field.dispatchEvent(new Event('input', { bubbles: true }));
        const look = () => count.textContent === before ? requestAnimationFrame(look) : requestAnimationFrame(() => resolve(performance.now() - begin));
        requestAnimationFrame(look);
      })`),
    );
  }
  return { times, filterP50Ms: rounded(percentile(durations, 50)), filterMaxMs: rounded(Math.max(...durations)) };
}

interface Churn {
  readonly page: Page;
  readonly session: CDPSession;
  readonly fleet: ChangingFleet;
  readonly seconds: number;
}

/** The heap of the page, garbage aside, before and after. */
async function churned({ page, session, fleet, seconds }: Churn) {
  const before = await heapMiB(session);
  const timer = setInterval(() => fleet.change(CHANGES_A_SECOND / 4), 250);
  await page.waitForTimeout((seconds * 1_000) / 2);
  const half = await heapMiB(session);
  await page.waitForTimeout((seconds * 1_000) / 2);
  clearInterval(timer);
  return { seconds, changesPerSecond: CHANGES_A_SECOND, heapBeforeMiB: before, heapHalfMiB: half, heapAfterMiB: await heapMiB(session) };
}

async function heapMiB(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return rounded(usedSize / 1024 / 1024);
}

/** The whole fleet translated in the browser once, and then what one more policy would do. `longestTaskMs`: for how long the page took no key. */
async function whatIf(browser: Browser, url: string) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(
    "self.tasks = []; new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) self.tasks.push(duration); }).observe({ type: 'longtask' });",
  );
  await page.goto(`${url}/policies`);
  await page.locator(".table-row").first().waitFor({ timeout: 120_000 });
  await page.evaluate("self.tasks.length = 0");
  const begin = performance.now();
  await page.getByRole("link", { name: "What if" }).first().click();
  await page.locator(".what-if-result > *").first().waitFor({ timeout: 300_000 });
  const translatedMs = performance.now() - begin;
  const asked = performance.now();
  await page.getByRole("textbox").fill(POLICY);
  await page.getByRole("heading", { name: /Objects in clusters that would change · [1-9]/ }).waitFor({ timeout: 300_000 });
  const answeredMs = performance.now() - asked;
  const longestTaskMs = await page.evaluate<number>("Math.max(0, ...self.tasks)");
  await context.close();
  return { translatedMs: rounded(translatedMs), answeredMs: rounded(answeredMs), longestTaskMs: rounded(longestTaskMs) };
}

const TARGET = JSON.stringify({ ...serviceAt(0), clusterName: clusterName(0) });
const POLICY = `apiVersion: networking.mesh.gloo.solo.io/v1
kind: AccessPolicy
metadata: {name: bench, namespace: team-0}
spec:
  destinationSelector: [{kubeServiceRefs: {services: [${TARGET}]}}]
  allowedMethods: [PATCH]
`;

const nothing = () => undefined;
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
