import { createFile, insertAfter, insertBefore } from "../edit.ts";
import type { Recipe } from "../recipe.ts";
import { istioDestination } from "./inputs.ts";

const NAMES = {
  group: "kubernetes",
  kind: "networkPolicy",
  translator: "networkPolicies",
  folder: "networkPolicies",
  case: "services-with-a-label-are-called-by-the-cluster-only",
};
const ROLES = "packages/api/src/roles.ts";
const DESTINATIONS = "packages/translators/src/meshes/istio/istio.ts";

/** NetworkPolicy, for services with a label. */
export const writtenKind: Recipe = {
  heading: "Adding a kind that translation writes",
  isNightly: true,
  names: NAMES,
  edits: [
    createFile(
      "packages/api/src/kubernetes/networkPolicy.ts",
      `import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf, stringMap, strings } from "../shared/schema.ts";

const labels = fields({ matchLabels: stringMap() });
const peer = fields({ namespaceSelector: labels });

/** Who may connect to pods. Source: kubernetes.io/docs/concepts/services-networking/network-policies. */
export const NetworkPolicy = defineKind({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  fields: { spec: fields({ podSelector: labels, policyTypes: strings(), ingress: listOf(fields({ from: listOf(peer) })) }) },
});
export type NetworkPolicy = ReturnType<typeof NetworkPolicy.parse>;
`,
    ),
    insertBefore(
      "packages/api/src/index.ts",
      "export { KIND_NODE_IMAGE, Node }",
      'export { NetworkPolicy } from "./kubernetes/networkPolicy.ts";\n',
    ),
    insertBefore(ROLES, 'import { Node } from "./kubernetes/node.ts";', 'import { NetworkPolicy } from "./kubernetes/networkPolicy.ts";\n'),
    insertBefore(ROLES, "  { kind: TrafficSplit,", '  { kind: NetworkPolicy, tasks: ["delivered"] },\n'),
    insertBefore(
      "docs/reference/rbac.md",
      "  - { apiGroups: [split.smi-spec.io], resources: [trafficsplits],",
      "  - { apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [get, list, watch, create, update, patch, delete] }\n",
    ),
    createFile(
      "packages/translators/src/meshes/istio/networkPolicies.ts",
      `import { NetworkPolicy } from "@isthmus/api";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../inputs.ts";
import { type OutputOrigin, outputOf } from "../outputMetadata.ts";

/** The pods of a Service with the label security=strict take connections of pods of their own cluster only. */
export function networkPolicyFor(inputs: DestinationInputs, origin: OutputOrigin): TargetTranslation {
  const { ref, labels = {}, workloadSelectorLabels: matchLabels = {} } = inputs.destination.spec?.kubeService ?? {};
  if (ref === undefined || labels["security"] !== "strict") return emptyTranslation;
  const { name, namespace, clusterName } = ref;
  const ingress = [{ from: [{ namespaceSelector: {} }] }];
  const spec = { podSelector: { matchLabels }, policyTypes: ["Ingress"], ingress } satisfies NetworkPolicy["spec"];
  return { outputs: [outputOf({ name, namespace, clusterName, origin }, NetworkPolicy, spec)], reports: [] };
}
`,
    ),
    insertBefore(
      DESTINATIONS,
      'import { podsOutsideMesh } from "./podsOutsideMesh.ts";',
      'import { networkPolicyFor } from "./networkPolicies.ts";\n',
    ),
    insertAfter(DESTINATIONS, "\n    envoyFilterFor(inputs, origin),", "\n    networkPolicyFor(inputs, origin),"),
    createFile(`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.in.yaml`, istioDestination),
  ],
  tests: ["packages/translators/test/kindsRead.test.ts", "tests/security/agentRights.test.ts"],
  golden: { [`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.out.yaml`]: "policyTypes:" },
};
