import { defineConfig } from "vitest/config";

// Suites against real components (kube-apiserver, etcd, …): `npm run test:real`. One after the other: they share two cores.
export default defineConfig({
  test: {
    include: ["tests/real/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});
