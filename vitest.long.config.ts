import { defineConfig } from "vitest/config";
import { longestFirst } from "./tools/longestFirst.ts";
import { sampledTests } from "./tools/sampledTests.ts";

// What runs more often here than in `npm test`, or tries all of a list (packages/testing/src/runs.ts).
const SAMPLED = sampledTests(import.meta.dirname);

// These take minutes, the others less than one.
const LONGEST = ["contributing.long.test.ts", "fuzz.long.test.ts", "meshTrust.long.test.ts", "translators/test/incremental.test.ts"];

// `npm run test:long`: what takes processor minutes or starts many processes, named `*.long.test.ts`. Of what each of them guards, a quick
// version is in `npm test`.
export default defineConfig({
  test: {
    // The developer may have a configuration of meshctl.
    env: { MESHCTL_CONFIG: "", ISTHMUS_FULL_RUNS: "1" },
    include: [...SAMPLED, "{packages,apps}/*/{src,test}/**/*.long.test.ts", "tests/**/*.long.test.ts", "tools/**/*.long.test.ts"],
    exclude: ["**/node_modules/**", "tests/real/**"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // `expect.poll` waits for what happens soon; its default of a second is too short for a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // On two processors: those that start processes mostly wait for them.
    maxWorkers: 3,
    sequence: { sequencer: longestFirst(LONGEST) },
  },
});
