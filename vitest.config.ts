import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Everything that needs nothing but Node: unit, golden, properties, simulator, real sockets on loopback.
export default defineConfig({
  test: {
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "apps/*/{src,test}/**/*.test.ts",
      "tests/{conformance,faults,fuzz}/**/*.test.ts",
      "tests/security/**/*.test.ts",
      "tools/**/*.test.ts",
    ],
    // Finds what hangs. A busy machine is no failure: nothing here promises to be fast.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The default leaves one processor free, which is half of a machine with two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
