import { createFile, insertAfter, replaceText } from "../edit.ts";
import type { Recipe } from "../recipe.ts";
import { istioDestination } from "./inputs.ts";

const NAMES = { feature: "outlierDetection", folder: "destinationRules", case: "endpoints-are-ejected-after-gateway-errors" };
const FEATURE = "packages/translators/src/meshes/istio/features/outlierDetection.ts";

/** `outlierDetection.consecutiveGatewayErrors`, which Istio has too. */
export const field: Recipe = {
  heading: "Adding a field to a policy",
  names: NAMES,
  edits: [
    insertAfter(
      "packages/api/src/networking/trafficPolicySpec.ts",
      'consecutiveErrors: uint32({ description: "Number of consecutive errors after which an endpoint is ejected. Default: 5." }),',
      `
    consecutiveGatewayErrors: uint32({
      description: "Number of consecutive errors 502, 503 and 504 after which an endpoint is ejected. Default: they count as any error.",
    }),`,
    ),
    replaceText(FEATURE, "({ consecutiveErrors, interval,", "({ consecutiveErrors, consecutiveGatewayErrors, interval,"),
    insertAfter(
      FEATURE,
      "consecutive5xxErrors: consecutiveErrors || 5,",
      "\n      ...(consecutiveGatewayErrors === undefined ? {} : { consecutiveGatewayErrors }),",
    ),
    createFile(
      `packages/translators/testdata/${NAMES.folder}/${NAMES.case}.in.yaml`,
      `${istioDestination}---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: ejected, namespace: shop}
spec:
  policy:
    outlierDetection: {consecutiveGatewayErrors: 3}
`,
    ),
  ],
  tests: ["packages/translators/test/features.test.ts"],
  golden: { [`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.out.yaml`]: "consecutiveGatewayErrors: 3" },
};
