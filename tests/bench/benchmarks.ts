import { ciliumEndpointsBenchmark } from "./ciliumEndpoints.ts";
import { consoleBenchmark } from "./console.ts";
import { fleetBenchmark } from "./fleetTranslation.ts";
import { growthBenchmark } from "./growth.ts";
import { insightsBenchmark } from "./insights.ts";
import { meshMetricsBenchmark } from "./meshMetrics.ts";
import { offlineBenchmark } from "./offline.ts";
import { churnBenchmark } from "./plane/churn.ts";
import { connectBenchmark } from "./plane/connect.ts";
import { endpointBenchmark } from "./plane/endpoint.ts";
import { memoryAgentBenchmark } from "./plane/memoryAgent.ts";
import { memoryServerBenchmark } from "./plane/memoryServer.ts";
import { propagateBenchmark } from "./plane/propagate.ts";
import { registrationBenchmark } from "./plane/registration.ts";
import { restartBenchmark } from "./plane/restart.ts";
import { restartReplicaBenchmark } from "./plane/restartReplica.ts";
import { wireBenchmark } from "./plane/wire.ts";
import { startupBenchmark } from "./startup.ts";
import { coldBenchmark, translateBenchmark } from "./translate.ts";
import { virtualDestinationsBenchmark } from "./virtualDestinations.ts";

/** One result: `name` and numbers whose unit is in their names. */
export type Figures = { readonly name: string } & Readonly<Record<string, string | number>>;

export interface BenchmarkOptions {
  /** Small sizes. */
  readonly smoke: boolean;
  /** File with a JSON List. */
  readonly input?: string;
  /** Sizes other than a benchmark's own: clusters; services, in each cluster where there are several; pods of each service. */
  readonly clusters?: number;
  readonly services?: number;
  readonly pods?: number;
  /** How long to look on. */
  readonly seconds?: number;
  /** The server does not look for insights, to see what they cost. */
  readonly withoutInsights?: boolean;
  /** So many seconds pass before that. */
  readonly rest?: number;
}

export interface Benchmark {
  readonly name: string;
  /** Limit of the JavaScript heap, where Node's own is too low for the size of the fleet. */
  readonly heapMiB?: number;
  /** Which program its process measures. */
  readonly program?: "server" | "agent";
  /** Only run by another benchmark. */
  readonly isPart?: boolean;
  run(options: BenchmarkOptions): AsyncIterable<Figures> | Iterable<Figures>;
}

/** Every benchmark, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  { name: "translate", run: translateBenchmark },
  { name: "growth", run: growthBenchmark },
  { name: "cold", isPart: true, run: coldBenchmark },
  { name: "fleet", heapMiB: 8192, run: fleetBenchmark },
  { name: "virtual-destinations", run: virtualDestinationsBenchmark },
  { name: "insights", heapMiB: 8192, run: insightsBenchmark },
  { name: "offline-documents", run: offlineBenchmark("documents") },
  { name: "offline-list", run: offlineBenchmark("list") },
  { name: "offline-json", run: offlineBenchmark("json") },
  { name: "startup", run: startupBenchmark },
  { name: "propagate", program: "server", run: propagateBenchmark },
  { name: "churn", program: "server", run: churnBenchmark },
  { name: "connect", program: "server", run: connectBenchmark },
  { name: "memory-server", program: "server", heapMiB: 8192, run: memoryServerBenchmark },
  { name: "memory-agent", program: "agent", run: memoryAgentBenchmark },
  { name: "wire", run: wireBenchmark },
  { name: "cilium-endpoints", run: ciliumEndpointsBenchmark },
  { name: "mesh-metrics", run: meshMetricsBenchmark },
  { name: "endpoint", program: "server", run: endpointBenchmark },
  { name: "restart", run: restartBenchmark },
  { name: "restart-replica", program: "server", heapMiB: 8192, isPart: true, run: restartReplicaBenchmark },
  { name: "console", heapMiB: 8192, run: consoleBenchmark },
  { name: "registration", run: registrationBenchmark },
];
