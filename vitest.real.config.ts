import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tests/real/harness/longestFirst.ts";

// Suites against real components (kube-apiserver, etcd, …): `npm run test:real`. Two at a time: each mostly waits, for one
// heartbeat or lease or another, and none of what they promise is so tight that a busy machine could break it.
export default defineConfig({
  test: {
    // The developer may have a configuration of meshctl.
    env: { MESHCTL_CONFIG: "" },
    include: ["tests/real/**/*.test.ts"],
    globalSetup: "tests/real/harness/buildApps.ts",
    testTimeout: 120_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    // Tests that are marked as concurrent do nothing but wait.
    maxConcurrency: 16,
    sequence: { sequencer: LongestFirst },
  },
});
