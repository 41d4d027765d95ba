import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

// For `npm run mutate`: the tests of one package, which get a mutant in place of one source file; MUTANT_LONG: one of its long tests, too.
const { MUTANT_PATH: path, MUTANT_SOURCE: source, MUTANT_LONG: long } = process.env;

export default defineConfig({
  plugins: [
    {
      name: "mutant",
      enforce: "pre",
      load: (id) => (id === path && source !== undefined ? readFileSync(source, "utf8") : undefined),
    },
  ],
  test: {
    include: [
      "packages/*/{src,test}/**/!(*.long).test.ts",
      // Those of the long tests that take seconds.
      "packages/plane/test/{accessPolicies,agentService,certificateExpiring,ciliumPolicies,connections,givenHosts}.long.test.ts",
      "packages/plane/test/{insights,lastAccepted,lastPods,reportedKinds,translationFaults,unknownFields,wasmFilters}.long.test.ts",
      "packages/{certificates/test/meshAuthority,process/test/adminAuthorizer,relay/test/unanswered,store/test/fullDisk}.long.test.ts",
      "packages/translators/test/{faults,networkingProperties,oneTenant.property}.long.test.ts",
      "tests/real/redis/{contract,forgery}.test.ts",
      ...(long === undefined ? [] : [long]),
    ],
    exclude: ["**/node_modules/**"],
    // A busy machine notices no mutant.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
});
