import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { percentile, rounded, timed } from "./measure.ts";

const MESHCTL = join(process.cwd(), "apps/meshctl/bin/meshctl.js");
/** Those that connect end with their first request, which nobody answers: until then they have loaded all that is needed for it. */
const COMMANDS: readonly (readonly string[])[] = [
  ["--help"],
  ["version", "--client"],
  ["completion", "bash"],
  ["translate", "-f", "/dev/null"],
  ["validate", "-f", "/dev/null"],
  ["get", "meshes"],
  ["get", "policies"],
  ["describe", "mesh"],
  ["check"],
  ["precheck"],
  ["sync", "status"],
  ["logs"],
  ["version"],
  ["explain", "delete", "VirtualService/bookinfo/reviews", "--cluster", "east"],
  ["cert", "list"],
  ["install"],
  ["uninstall"],
  ["cluster", "list"],
  ["cluster", "describe", "east"],
  ["cluster", "diagnose", "east"],
  ["cluster", "pause", "east"],
  ["cluster", "token", "create", "--cluster", "east"],
  ["cluster", "register", "east"],
  ["cluster", "register", "east", "--standard"],
  ["cluster", "deregister", "east"],
];

/** A kubeconfig of an API server that is not there. */
const KUBECONFIG = JSON.stringify({
  clusters: [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "one", user: { token: "t" } }],
  contexts: [{ name: "one", context: { cluster: "one", user: "one" } }],
  "current-context": "one",
});

/**
 * How long the built `meshctl` takes from its start to its end, as users run it. The least of several runs tells what it needs on a busy machine, and
 * its processor time what no other program changes.
 */
export function* startupBenchmark({ smoke }: BenchmarkOptions): Iterable<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-startup-"));
  try {
    const path = join(folder, "kubeconfig");
    writeFileSync(path, KUBECONFIG);
    for (const args of COMMANDS) {
      const times = Array.from({ length: smoke ? 2 : 20 }, () => measured(args, { ...process.env, KUBECONFIG: path }));
      const wall = times.map(({ ms }) => ms);
      yield {
        name: `startup ${args.join(" ")}`,
        runs: times.length,
        minMs: rounded(Math.min(...wall)),
        p50Ms: rounded(percentile(wall, 50)),
        cpuMs: rounded(Math.min(...times.map(({ cpuMs }) => cpuMs))),
      };
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The shell knows the processor time of what it has run. */
const SCRIPT = `TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>/dev/null`;

function measured(args: readonly string[], env: NodeJS.ProcessEnv): { readonly ms: number; readonly cpuMs: number } {
  const command = ["-c", SCRIPT, "bash", process.execPath, MESHCTL, ...args];
  const [{ stderr }, ms] = timed(() => spawnSync("bash", command, { env, encoding: "utf8" }));
  const seconds = stderr.trim().split(" ").map(Number);
  return { ms, cpuMs: 1000 * seconds.reduce((sum, part) => sum + part, 0) };
}
