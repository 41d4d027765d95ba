import { defineConfig } from "vitest/config";
import { longestFirst } from "./tools/longestFirst.ts";

// Suites that take minutes. The others, of less than one each, fill up what they leave.
const LONGEST = [
  "dataplane/trust.test.ts",
  "dataplane/dataplane.test.ts",
  "tests/real/docs.test.ts",
  "tests/real/upgrade.test.ts",
  "tests/real/restore.test.ts",
  "tests/real/registerAgent.test.ts",
  "tests/real/crashes.test.ts",
  "dataplane/endToEnd.test.ts",
  "tests/real/registrationRefusals.test.ts",
  "dataplane/failover.test.ts",
  "tests/real/images.test.ts",
  "tests/real/modes.test.ts",
  "redis/takeover.test.ts",
];

// Suites against real components (kube-apiserver, etcd, …): `npm run test:real`. Three at a time on two processors: each mostly waits, for
// one heartbeat or lease or another, and none of what they promise is so tight that a busy machine could break it.
export default defineConfig({
  test: {
    // The developer may have a configuration of meshctl.
    env: { MESHCTL_CONFIG: "" },
    include: ["tests/real/**/*.test.ts"],
    globalSetup: "tests/real/harness/buildApps.ts",
    testTimeout: 120_000,
    hookTimeout: 300_000,
    // `expect.poll` waits for what happens soon; its default of a second is too short for a busy machine.
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    // Tests that are marked as concurrent do nothing but wait.
    maxConcurrency: 16,
    sequence: { sequencer: longestFirst(LONGEST) },
  },
});
