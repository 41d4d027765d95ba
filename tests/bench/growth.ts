import { runApart } from "./apart.ts";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { percentile, rounded } from "./measure.ts";

const SIZES = [500, 1000, 2000, 4000, 8000];
const SMOKE_SIZES = [50, 100];
// The median of so many: other work on the machine slows single runs down.
const RUNS = 3;

/** How the time of a cold translation grows with the number of services over ten clusters: 1 is linear, 2 quadratic. Each run in a fresh process. */
export async function* growthBenchmark({ smoke }: BenchmarkOptions): AsyncIterable<Figures> {
  const points: (readonly [services: number, coldMs: number])[] = [];
  for (const services of smoke ? SMOKE_SIZES : SIZES) {
    const times: number[] = [];
    for (let run = 0; run < (smoke ? 1 : RUNS); run++) {
      const [figures] = await runApart(["--run", "translate", "--services", String(services)]);
      times.push(Number(figures?.["coldMs"]));
    }
    points.push([services, percentile(times, 50)]);
  }
  const times = Object.fromEntries(points.map(([services, coldMs]) => [`cold${services}Ms`, rounded(coldMs)]));
  yield { name: "growth", ...times, slope: rounded(slopeOf(points.map(([x, y]) => [Math.log(x), Math.log(y)]))) };
}

/** The slope of the line with the least squares through some points. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middleX, middleY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
}
