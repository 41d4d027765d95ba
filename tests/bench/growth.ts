import { runApart } from "./apart.ts";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { percentile, rounded } from "./measure.ts";

const SIZES = [500, 1000, 2000, 4000, 8000];
const SMOKE_SIZES = [50, 100];
// The median of so many: other work on the machine slows single runs down.
const RUNS = 3;

/**
 * How the time of a cold translation grows with the number of services over ten clusters: 1 is linear, 2 quadratic. Each run in a
 * fresh process. The same of processor time, which says it on a busy machine, too.
 */
export async function* growthBenchmark({ smoke }: BenchmarkOptions): AsyncIterable<Figures> {
  const sizes = smoke ? SMOKE_SIZES : SIZES;
  const points: { readonly services: number; readonly ms: number; readonly cpuMs: number }[] = [];
  for (const services of sizes) {
    const runs: Figures[] = [];
    for (let run = 0; run < (smoke ? 1 : RUNS); run++) runs.push(...(await runApart(["--run", "cold", "--services", String(services)])));
    const median = (name: string) =>
      percentile(
        runs.map((figures) => Number(figures[name])),
        50,
      );
    points.push({ services, ms: median("coldMs"), cpuMs: median("coldCpuMs") });
  }
  const times = Object.fromEntries(points.map(({ services, ms }) => [`cold${services}Ms`, rounded(ms)]));
  const slope = slopeOf(points.map(({ services, ms }) => [Math.log(services), Math.log(ms)]));
  const cpuSlope = slopeOf(points.map(({ services, cpuMs }) => [Math.log(services), Math.log(cpuMs)]));
  yield { name: "growth", ...times, slope: rounded(slope), cpuSlope: rounded(cpuSlope) };
}

/** The slope of the line with the least squares through some points. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middleX, middleY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
}
