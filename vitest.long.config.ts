import { defineConfig } from "vitest/config";

// `npm run test:long`: what takes processor minutes or starts many processes, named `*.long.test.ts`. Of what each of them guards, a quick
// version is in `npm test`.
export default defineConfig({
  test: {
    env: { ISTHMUS_FULL_RUNS: "1" },
    include: [
      // Properties run more often here than in `npm test` (packages/testing/src/runs.ts).
      "packages/translators/test/incremental.test.ts",
      "packages/translators/test/incrementalStatuses.test.ts",
      "packages/translators/test/publicationScope.test.ts",
      "packages/translators/test/discoveryProperties.test.ts",
      "packages/translators/test/networkingProperties.test.ts",
      "packages/plane/test/unknownFields.test.ts",
      "packages/relay/test/links.test.ts",
      "packages/relay/test/session.properties.test.ts",
      "packages/translators/src/policy/precedence.test.ts",
      "packages/translators/src/policy/workloadTraits.test.ts",
      "{packages,apps}/*/{src,test}/**/*.long.test.ts",
      "tests/**/*.long.test.ts",
      "tools/**/*.long.test.ts",
    ],
    exclude: ["**/node_modules/**", "tests/real/**"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 2,
  },
});
