import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/ci/longestFirst.ts";
import { realTests } from "./tools/ci/testFiles.ts";

// Suites against real components (kube-apiserver, etcd, …): `npm run test:real`. Three at a time on two processors: each mostly waits, for
// one heartbeat or lease or another, and none of what they promise is so tight that a busy machine could break it.
export default defineConfig({
  test: {
    // The developer may have a configuration of meshctl.
    env: { MESHCTL_CONFIG: "" },
    include: [...realTests(import.meta.dirname)],
    globalSetup: ["tests/real/harness/buildApps.ts", "tests/real/harness/apiServerPool/poolHost.ts"],
    setupFiles: ["tools/ci/measuredFile.ts", "tests/real/harness/leftovers.ts"],
    // One process reads each module once, not once for each test file. So a test file ends what it started and restores what it changed; what a
    // suite that fails leaves running is ended after each file (leftovers.ts).
    isolate: false,
    unstubEnvs: true,
    // Finds what hangs. A machine on which others work too takes many times as long.
    testTimeout: 300_000,
    // A suite may wait for API servers that others have leased.
    hookTimeout: 900_000,
    // `expect.poll` waits for what happens soon; its default of a second is too short for a busy machine.
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    // Tests that are marked as concurrent do nothing but wait.
    maxConcurrency: 16,
    sequence: { sequencer: LongestFirst },
  },
});
