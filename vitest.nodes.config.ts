import { defineConfig } from "vitest/config";

// Real Kubernetes nodes with the product's images as pods: `npm run test:nodes`. Needs root on a machine that tests/nodes/machine.ts takes.
export default defineConfig({
  test: {
    env: { MESHCTL_CONFIG: "" },
    include: ["tests/nodes/*.suite.ts"],
    // There is one set of nodes on a machine.
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    bail: 1,
  },
});
