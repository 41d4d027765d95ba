import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/ci/longestFirst.ts";
import { keyedByPackages, MODULE_CACHE } from "./tools/moduleCache.ts";
import { sampledTests } from "./tools/sampledTests.ts";

// `.ci/run` runs those in whole, and no test file twice.
const RUN_LATER = process.env["ISTHMUS_LONG_FOLLOWS"] === "1" ? sampledTests(import.meta.dirname) : [];

// What needs nothing but Node: unit, golden, properties, simulator, real sockets on loopback.
export default defineConfig({
  plugins: [keyedByPackages(import.meta.dirname)],
  test: {
    // The developer may have a configuration of meshctl.
    env: { MESHCTL_CONFIG: "" },
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "apps/*/{src,test}/**/*.test.ts",
      "tests/{conformance,contributing,documents,faults,fuzz,insights,security}/**/*.test.ts",
      "tests/nodes/cloud/*.test.ts",
      "tools/**/*.test.ts",
    ],
    // Those are run by `npm run test:long`.
    exclude: ["**/node_modules/**", "**/*.long.test.ts", ...RUN_LATER],
    setupFiles: "tools/ci/measuredFile.ts",
    unstubEnvs: true,
    // One process reads each module once, not once for each test file: that took a third of the processor time. So a test file ends what it
    // started (servers, connections), and undoes what it changed of the process (timers, spies).
    isolate: false,
    // Finds what hangs. A busy machine is no failure: nothing here promises to be fast.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // `expect.poll` waits for what happens soon; its default of a second is too short for a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // Three on two processors: each waits for sockets, timers and programs for a fifth of its time. What the third reads once more takes five
    // seconds of processor.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Half of the processor time of a single test file, and a tenth of that of all, went to making JavaScript of sources that had not changed.
    experimental: { fsModuleCache: true, fsModuleCachePath: MODULE_CACHE },
    sequence: { sequencer: LongestFirst },
  },
});
