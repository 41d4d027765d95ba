import { translateBenchmark } from "./translate.ts";

/** One result: `name` and numbers whose unit is in their names. */
export type Figures = { readonly name: string } & Readonly<Record<string, string | number>>;

export interface BenchmarkOptions {
  /** Small sizes. */
  readonly smoke: boolean;
  /** File with a JSON List. */
  readonly input?: string;
}

export interface Benchmark {
  readonly name: string;
  /** Limit of the JavaScript heap, where Node's own is too low for the size of the fleet. */
  readonly heapMiB?: number;
  run(options: BenchmarkOptions): AsyncIterable<Figures> | Iterable<Figures>;
}

/** Every benchmark, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [{ name: "translate", run: translateBenchmark }];
