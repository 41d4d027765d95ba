import { fleetBenchmark } from "./fleetTranslation.ts";
import { growthBenchmark } from "./growth.ts";
import { translateBenchmark } from "./translate.ts";

/** One result: `name` and numbers whose unit is in their names. */
export type Figures = { readonly name: string } & Readonly<Record<string, string | number>>;

export interface BenchmarkOptions {
  /** Small sizes. */
  readonly smoke: boolean;
  /** File with a JSON List. */
  readonly input?: string;
  /** How many services, for a part of a benchmark. */
  readonly services?: number;
}

export interface Benchmark {
  readonly name: string;
  /** Limit of the JavaScript heap, where Node's own is too low for the size of the fleet. */
  readonly heapMiB?: number;
  /** Only run by another benchmark. */
  readonly isPart?: boolean;
  run(options: BenchmarkOptions): AsyncIterable<Figures> | Iterable<Figures>;
}

/** Every benchmark, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  { name: "translate", run: translateBenchmark },
  { name: "growth", run: growthBenchmark },
  { name: "fleet", heapMiB: 8192, run: fleetBenchmark },
];
