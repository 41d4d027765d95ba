import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

// For `npm run mutate`: the tests of one package, which get a mutant in place of one source file.
const { MUTANT_PATH: path, MUTANT_SOURCE: source } = process.env;

export default defineConfig({
  plugins: [
    {
      name: "mutant",
      enforce: "pre",
      load: (id) => (id === path && source !== undefined ? readFileSync(source, "utf8") : undefined),
    },
  ],
  test: {
    include: ["packages/*/{src,test}/**/*.test.ts", "tests/real/redis/contract.test.ts"],
    exclude: ["**/node_modules/**", "**/*.long.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});
