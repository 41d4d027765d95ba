import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/ci/longestFirst.ts";
import { longTests } from "./tools/ci/testFiles.ts";
import { keyedByPackages, MODULE_CACHE } from "./tools/moduleCache.ts";

// `npm run test:long`: what takes processor minutes or starts many processes, named `*.long.test.ts`. Of what each of them guards, a quick
// version is in `npm test`.
export default defineConfig({
  plugins: [keyedByPackages(import.meta.dirname)],
  test: {
    // The developer may have a configuration of meshctl.
    env: { MESHCTL_CONFIG: "", ISTHMUS_FULL_RUNS: "1" },
    // With it, what runs more often here than in `npm test`, or tries all of a list (packages/testing/src/runs.ts).
    include: [...longTests(import.meta.dirname)],
    setupFiles: "tools/ci/measuredFile.ts",
    // As in `npm test`.
    isolate: false,
    unstubEnvs: true,
    // Finds what hangs. In `.ci/run` they run behind other suites.
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    // `expect.poll` waits for what happens soon; its default of a second is too short for a busy machine, on which these run behind others.
    expect: { poll: { timeout: 300_000 } },
    // On two processors: those that start processes mostly wait for them.
    maxWorkers: 3,
    // As in `npm test`, which has made most of it.
    experimental: { fsModuleCache: true, fsModuleCachePath: MODULE_CACHE },
    sequence: { sequencer: LongestFirst },
  },
});
