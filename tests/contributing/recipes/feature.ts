import { createFile, insertAfter, insertBefore } from "../edit.ts";
import type { Recipe } from "../recipe.ts";
import { istioDestination } from "./inputs.ts";

const NAMES = { field: "loadBalancer", kind: "destinationRule", folder: "destinationRules", case: "endpoints-are-selected-at-random" };
const SCHEMA = "packages/api/src/networking/trafficPolicySpec.ts";
const LIST = "packages/translators/src/meshes/istio/features/index.ts";

/** `loadBalancer`, a part of a DestinationRule that no feature writes. */
export const feature: Recipe = {
  heading: "Adding a feature of TrafficPolicy",
  isNightly: true,
  needsAdditionalFile: true,
  names: NAMES,
  edits: [
    insertBefore(
      SCHEMA,
      "/** What a TrafficPolicy does with the traffic that it is for. */",
      `const loadBalancer = userFields(
  { simple: oneOfWords(["LEAST_REQUEST", "ROUND_ROBIN", "RANDOM"], { description: "Algorithm. Default: LEAST_REQUEST." }) },
  { description: "Selection of an endpoint of the destination for each request. Default: that of Istio." },
);

`,
    ),
    insertBefore(SCHEMA, "    rateLimit: userFields(", "    loadBalancer,\n"),
    createFile(
      "packages/translators/src/meshes/istio/features/loadBalancer.ts",
      `import { defineFeature } from "./feature.ts";

/** How an endpoint is selected. LEAST_REQUEST is the default of Istio as well. */
export const loadBalancer = defineFeature({
  field: "loadBalancer",
  writes: "connection",
  sets: { loadBalancer: "spec.policy.loadBalancer" },
  fieldsOf: ({ simple = "LEAST_REQUEST" }) => ({ loadBalancer: { simple } }),
});
`,
    ),
    insertBefore(LIST, 'import { mirror } from "./mirror.ts";', 'import { loadBalancer } from "./loadBalancer.ts";\n'),
    insertAfter(LIST, "\n  csrf,", "\n  loadBalancer,"),
    insertAfter("packages/api/src/istio/destinationRule.ts", "\n  loadBalancer: fields({", " simple: Type.String(),"),
    createFile(
      `packages/translators/testdata/${NAMES.folder}/${NAMES.case}.in.yaml`,
      `${istioDestination}---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: balanced, namespace: shop}
spec:
  policy:
    loadBalancer: {simple: RANDOM}
`,
    ),
  ],
  tests: ["packages/translators/test/features.test.ts"],
  golden: { [`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.out.yaml`]: "simple: RANDOM" },
};
