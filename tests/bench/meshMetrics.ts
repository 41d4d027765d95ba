import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@isthmus/core";
import { type ScrapeTarget, startMeshScrape } from "@isthmus/dataplane";
import { systemClock } from "@isthmus/plane";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { rounded } from "./measure.ts";
import { machineLoad } from "./plane/load.ts";

const DESTINATIONS = 10;
const ROUNDS_PER_MINUTE = 2;

/**
 * What an agent spends on the metrics of proxies, each of half a megabyte and a workload of its own with ten destinations: processor time, with that of
 * the server that stands for them all in the same process, and bytes of the answers that go up.
 */
export async function* meshMetricsBenchmark({ smoke, pods = smoke ? 20 : 500 }: BenchmarkOptions): AsyncIterable<Figures> {
  let body = expositionOf(1);
  const server = createServer((_, response) => response.end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = { address: "127.0.0.1", port: (server.address() as AddressInfo).port, path: "/stats/prometheus" };
  const targets = Array.from(
    { length: pods },
    (_, i): ScrapeTarget => ({
      namespace: `namespace-${i % 20}`,
      pod: `service-${i}-v1-0`,
      workload: `service-${i}-v1`,
      kind: "proxy",
      at,
    }),
  );
  const stop = new AbortController();
  const pace = rounds();
  const limits = { roundBytes: Number.MAX_SAFE_INTEGER, intervalMs: 600_000 };
  const options = { targets: () => targets, epoch: "bench", limits, allowance: { loopback: true }, clock: pace.clock, log: SILENT };
  const scrape = startMeshScrape(options, stop.signal);
  await pace.over();
  scrape.answer(new TextEncoder().encode("{}"));
  body = expositionOf(2);
  const cpu = process.cpuUsage();
  pace.next();
  await pace.over();
  const { user, system } = process.cpuUsage(cpu);
  const { length } = scrape.answer(new TextEncoder().encode("{}"));
  stop.abort(new Error("measured"));
  await scrape.ended;
  await new Promise((resolve) => server.close(resolve));
  const cpuSeconds = (user + system) / 1_000_000;
  yield {
    name: "mesh-metrics",
    proxies: pods,
    bytesOfProxy: body.length,
    proxiesPerCpuSecond: Math.round(pods / cpuSeconds),
    cpuMsOfProxy: rounded((cpuSeconds * 1_000) / pods),
    bytesUpPerWorkloadAndMinute: Math.round((length / pods) * ROUNDS_PER_MINUTE),
    load: machineLoad(),
  };
}

/** Of a sidecar as Istio's have it: many lines that nobody asks for, and of each destination requests, durations and bytes. */
function expositionOf(round: number): Buffer {
  const lines: string[] = [];
  for (let i = 0; i < DESTINATIONS; i++) {
    const labels =
      `reporter="source",source_workload="service",source_canonical_service="service",source_cluster="c1",source_principal="spiffe://cluster.local/ns/n/sa/service",` +
      `destination_service="service-${i}.n.svc.cluster.local",destination_service_name="service-${i}",destination_service_namespace="n",` +
      `destination_workload="service-${i}-v1",destination_workload_namespace="n",destination_cluster="c1",request_protocol="http",response_code="200",` +
      `response_flags="-",connection_security_policy="unknown"`;
    lines.push(`istio_requests_total{${labels}} ${round * 1_000}`);
    for (const metric of ["istio_request_duration_milliseconds", "istio_request_bytes", "istio_response_bytes"]) {
      for (const le of [
        "0.5",
        1,
        5,
        10,
        25,
        50,
        100,
        250,
        500,
        1000,
        2500,
        5000,
        10000,
        30000,
        60000,
        300000,
        600000,
        1800000,
        3600000,
        "+Inf",
      ])
        lines.push(`${metric}_bucket{${labels},le="${le}"} ${round * 1_000}`);
      lines.push(`${metric}_sum{${labels}} ${round * 12_345}`, `${metric}_count{${labels}} ${round * 1_000}`);
    }
  }
  for (let i = 0; lines.length < MOST_LINES; i++)
    lines.push(`envoy_cluster_upstream_cx_connect_attempts_exceeded{cluster_name="outbound|9080||service-${i}.n.svc.cluster.local"} 0`);
  return Buffer.from(`${lines.join("\n")}\n`);
}

// As measured of a sidecar of the testbed: 470 kB.
const MOST_LINES = 4_000;

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A clock by which a round follows when it is asked for. */
function rounds(): { readonly clock: Clock; next(): void; over(): Promise<void> } {
  let wake: () => void = () => undefined;
  let end: () => void = () => undefined;
  const begun = () =>
    new Promise<void>((resolve) => {
      end = resolve;
    });
  let over = begun();
  return {
    clock: {
      now: () => systemClock.now(),
      sleep: (_, signal) =>
        new Promise((resolve, reject) => {
          wake = resolve;
          signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
          end();
        }),
    },
    next() {
      over = begun();
      wake();
    },
    over: () => over,
  };
}
