import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { percentile, rounded, timed } from "./measure.ts";

const MESHCTL = join(process.cwd(), "apps/meshctl/bin/meshctl.js");
/** None of them reaches a cluster; the last one loads all that is needed for it, and fails there. */
const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ["help", ["--help"]],
  ["version", ["version", "--client"]],
  ["connecting", ["get", "meshes", "--kubeconfig", "/does/not/exist"]],
];

/** How long the built `meshctl` takes from its start to its end, as users run it. The least tells what it needs on a busy machine. */
export function* startupBenchmark({ smoke }: BenchmarkOptions): Iterable<Figures> {
  for (const [name, args] of COMMANDS) {
    const times = Array.from({ length: smoke ? 2 : 20 }, () => timed(() => spawnSync(process.execPath, [MESHCTL, ...args]))[1]);
    yield { name: `startup-${name}`, runs: times.length, minMs: rounded(Math.min(...times)), p50Ms: rounded(percentile(times, 50)) };
  }
}
