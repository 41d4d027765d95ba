import { type Clock, type Log, type Metric, uptimeOf } from "@isthmus/core";
import { CONTROL_PLANE_METRICS, controlPlaneSignals } from "../controlPlaneSignals.ts";
import { type ExpositionResult, expositionParser, type MetricSample } from "../exposition.ts";
import type { FetchAllowance } from "../moduleAddress.ts";
import { PROXY_METRICS, type ProxyOwner, proxySignals } from "../proxySignals.ts";
import { type ScrapeAddress, scrapeOnce } from "../scrapeRequest.ts";
import { parseTrafficQuery, SCRAPES_NOTHING, trafficAnswerText } from "./trafficAnswer.ts";
import { type ScrapedPod, trafficCounter } from "./trafficCounter.ts";

/** A pod of which metrics are read. */
export interface ScrapeTarget extends ProxyOwner {
  readonly pod: string;
  readonly kind: "proxy" | "controlPlane";
  /** Undefined while nobody knows its address. */
  readonly at: ScrapeAddress | undefined;
}

export interface MeshScrapeOptions {
  /** The pods with a proxy, and those of control planes; undefined while not all are known, or while the Settings do not ask for them. */
  readonly targets: () => readonly ScrapeTarget[] | undefined;
  /** Differs from one term of a leader to the next. */
  readonly epoch: string;
  /** Default, also of each: `SCRAPE_LIMITS`. */
  readonly limits?: Partial<ScrapeLimits>;
  readonly allowance?: FetchAllowance;
  /** Where what a pod has at its address is reached from here; undefined: nowhere. Default: at that address. */
  readonly reachedAt?: (at: ScrapeAddress) => ScrapeAddress | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** How much is read. What is beyond of one round is read in the next one. */
export interface ScrapeLimits {
  readonly intervalMs: number;
  /** Of one pod. */
  readonly timeoutMs: number;
  readonly bytes: number;
  readonly samples: number;
  readonly edges: number;
  /** Of all pods together, in one round. */
  readonly targets: number;
  readonly atOnce: number;
  readonly roundBytes: number;
}

/** Read 30 s apart, as Prometheus is usually set to. A sidecar has about half a megabyte; the processor takes a second for 150 MB. */
export const SCRAPE_LIMITS: ScrapeLimits = {
  intervalMs: 30_000,
  timeoutMs: 2_000,
  bytes: 8 * 1024 * 1024,
  samples: 50_000,
  edges: 500,
  targets: 5_000,
  atOnce: 20,
  roundBytes: 256 * 1024 * 1024,
};

/** Reads the metrics of a cluster's proxies and control planes. */
export interface MeshScrape {
  /** Answers a server's query, which came as JSON: counts since the answer that it has received. */
  answer(body: Uint8Array): Uint8Array;
  metrics(): readonly Metric[];
  readonly ended: Promise<void>;
}

/**
 * Scrapes all targets every `intervalMs` until `signal` is aborted, some at a time; a round that takes longer than the interval, or has more bytes than
 * it may, continues where it stopped. A pod that does not answer is missing, not idle: what it counts meanwhile is added with its next answer.
 */
export function startMeshScrape(options: MeshScrapeOptions, signal: AbortSignal): MeshScrape {
  const { epoch, allowance, reachedAt = (at) => at, clock, log } = options;
  const limits = { ...SCRAPE_LIMITS, ...options.limits };
  const now = () => uptimeOf(clock);
  let isOn = false;
  let known: ReadonlySet<string> | undefined;
  /** Pods that came after the first round and were not scraped yet, with how often that was tried. */
  const fresh = new Map<string, number>();
  let last = { targets: 0, scraped: 0 };
  const totals = { scrapes: 0, failed: 0, bytes: 0, refused: 0, forgotten: 0 };
  const forgotten = (edges: number) => {
    totals.forgotten += edges;
  };
  let counter = trafficCounter({ epoch, now, forgotten });
  let next = 0;

  async function scrape(target: ScrapeTarget): Promise<number> {
    const key = keyOf(target);
    if (target.at === undefined) return 0;
    const pod: ScrapedPod = { key, namespace: target.namespace, workload: target.workload, isNew: fresh.has(key) };
    const result = target.kind === "proxy" ? await scrapeProxy(pod, target.at) : await scrapeControlPlane(pod, target.at);
    fresh.delete(key);
    last = { ...last, scraped: last.scraped + 1 };
    totals.scrapes++;
    totals.bytes += result.bytes;
    return result.bytes;
  }

  async function scrapeProxy(pod: ScrapedPod, at: ScrapeAddress): Promise<ExpositionResult> {
    const reduction = proxySignals(pod, limits.edges);
    const result = await read(at, PROXY_METRICS, reduction.take);
    const traffic = reduction.traffic();
    totals.refused += traffic.refused;
    counter.proxy(pod, traffic, !result.isTruncated && traffic.refused === 0);
    return result;
  }

  async function scrapeControlPlane(pod: ScrapedPod, at: ScrapeAddress): Promise<ExpositionResult> {
    const reduction = controlPlaneSignals();
    const result = await read(at, CONTROL_PLANE_METRICS, reduction.take);
    counter.controlPlane(pod, reduction.counts());
    return result;
  }

  async function read(place: ScrapeAddress, names: ReadonlySet<string>, take: (sample: MetricSample) => void): Promise<ExpositionResult> {
    const at = reachedAt(place);
    if (at === undefined) throw new Error("the address is not reached from here");
    const parser = expositionParser(names, take, limits);
    await scrapeOnce(at, { timeoutMs: limits.timeoutMs, take: parser.write, ...(allowance === undefined ? {} : { allowance }) }, signal);
    return parser.end();
  }

  async function round(targets: readonly ScrapeTarget[]): Promise<void> {
    const keys = new Set(targets.map(keyOf));
    if (known !== undefined) for (const key of keys) if (!known.has(key)) fresh.set(key, 0);
    for (const [key, tries] of fresh) if (!keys.has(key) || tries >= MOST_FIRST_TRIES) fresh.delete(key);
    const expected = targets.filter((target) => target.at !== undefined && fresh.has(keyOf(target)));
    counter.startRound(new Set(expected.map(({ namespace, workload }) => `${namespace}/${workload}`)));
    known = keys;
    last = { targets: targets.length, scraped: 0 };
    const end = now() + limits.intervalMs;
    const most = Math.min(targets.length, limits.targets);
    let [started, bytes] = [0, 0];
    const worker = async (): Promise<void> => {
      while (started < most && bytes < limits.roundBytes && now() < end && !signal.aborted) {
        started++;
        const target = targets[next++ % targets.length];
        if (target === undefined) return;
        try {
          bytes += await scrape(target);
        } catch (error) {
          if (signal.aborted) return;
          totals.failed++;
          const tries = fresh.get(keyOf(target));
          if (tries !== undefined) fresh.set(keyOf(target), tries + 1);
          const { pod, namespace } = target;
          log.debug({ namespace, pod, error: error instanceof Error ? error.message : "failed" }, "metrics of a pod could not be read");
        }
      }
    };
    await Promise.all(Array.from({ length: limits.atOnce }, worker));
    if (!signal.aborted) counter.endRound(keys, last);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const begun = now();
      const targets = options.targets();
      if (targets === undefined && isOn) {
        // What is counted while nobody asks for it is not reported later.
        counter = trafficCounter({ epoch: `${epoch}/${begun}`, now, forgotten });
        known = undefined;
        fresh.clear();
      }
      isOn = targets !== undefined;
      if (targets !== undefined) await round(targets);
      const pauseMs = targets === undefined ? OFF_PAUSE_MS : Math.max(MIN_PAUSE_MS, limits.intervalMs - (now() - begun));
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  return {
    answer(body) {
      const query = parseTrafficQuery(body);
      return new TextEncoder().encode(isOn ? trafficAnswerText(counter.answer(query)) : SCRAPES_NOTHING);
    },
    metrics: () => [
      { name: "gloo_mesh_scrapes_total", labels: { result: "read" }, value: totals.scrapes },
      { name: "gloo_mesh_scrapes_total", labels: { result: "failed" }, value: totals.failed },
      { name: "gloo_mesh_scraped_bytes_total", labels: {}, value: totals.bytes },
      { name: "gloo_mesh_scraped_samples_refused_total", labels: {}, value: totals.refused },
      { name: "gloo_mesh_scraped_edges_forgotten_total", labels: {}, value: totals.forgotten },
    ],
    ended: run(),
  };
}

const MIN_PAUSE_MS = 1_000;
// Until somebody who turns it on sees that it is: looking costs nothing.
const OFF_PAUSE_MS = 5_000;
// A pod that starts answers within a minute. One that cannot be reached at all is no longer waited for: what it sends is counted where it arrives.
const MOST_FIRST_TRIES = 3;

function keyOf({ kind, namespace, pod }: ScrapeTarget): string {
  return `${kind}/${namespace}/${pod}`;
}
