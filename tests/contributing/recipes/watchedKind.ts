import { createFile, insertAfter, insertBefore } from "../edit.ts";
import type { Recipe } from "../recipe.ts";

const ROLES = "packages/api/src/roles.ts";

/** CiliumNetworkPolicy, which the console shows and no translator reads. */
export const watchedKind: Recipe = {
  heading: "Adding a kind that agents watch",
  names: { group: "cilium", kind: "ciliumNetworkPolicy" },
  edits: [
    createFile(
      "packages/api/src/cilium/ciliumNetworkPolicy.ts",
      `import { defineKind } from "../shared/defineKind.ts";
import { fields, stringMap } from "../shared/schema.ts";

/** Which connections pods accept. Source: docs.cilium.io/en/stable/network/kubernetes/policy. */
export const CiliumNetworkPolicy = defineKind({
  apiVersion: "cilium.io/v2",
  kind: "CiliumNetworkPolicy",
  plural: "ciliumnetworkpolicies",
  fields: { spec: fields({ endpointSelector: fields({ matchLabels: stringMap() }) }) },
});
`,
    ),
    insertBefore(
      ROLES,
      'import { Destination } from "./discovery/destination.ts";',
      'import { CiliumNetworkPolicy } from "./cilium/ciliumNetworkPolicy.ts";\n',
    ),
    insertAfter(
      ROLES,
      '{ kind: AuthorizationPolicy, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"], keptFor: CONSOLE },',
      '\n  { kind: CiliumNetworkPolicy, tasks: ["watchedByAgent", "inDiscoveryScope"], keptFor: CONSOLE },',
    ),
    insertBefore(
      "docs/reference/rbac.md",
      "  - { apiGroups: [appmesh.k8s.aws],",
      "  - { apiGroups: [cilium.io], resources: [ciliumnetworkpolicies], verbs: [list, watch] }\n",
    ),
  ],
  tests: ["packages/translators/test/kindsRead.test.ts", "tests/security/agentRights.test.ts"],
  golden: {},
};
