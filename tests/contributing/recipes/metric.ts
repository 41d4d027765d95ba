import { insertAfter, insertBefore } from "../edit.ts";
import type { Recipe } from "../recipe.ts";

/** A counter, measured where objects are deleted. */
export const metric: Recipe = {
  heading: "Adding a metric",
  isNightly: true,
  names: { package: "plane", component: "apply/applier" },
  edits: [
    insertBefore(
      "packages/core/src/signals/metrics.ts",
      "  resource_write_fails_total: {",
      `  gloo_mesh_deletes_total: {
    type: "counter",
    help: "Number of objects deleted from the program's own cluster, of any type.",
    labels: [],
    on: BOTH,
  },
`,
    ),
    insertAfter(
      "packages/plane/src/apply/applier.ts",
      'meter.add("resources_deleted_total", { type: kindKeyOf(ref) });',
      '\n      meter.add("gloo_mesh_deletes_total");',
    ),
  ],
  tests: ["packages/plane/test/applier.test.ts"],
  golden: {},
};
