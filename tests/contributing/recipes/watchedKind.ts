import { createFile, insertAfter, insertBefore } from "../edit.ts";
import type { Recipe } from "../recipe.ts";

const ROLES = "packages/api/src/roles.ts";

/** BackendTLSPolicy of the Gateway API, which the console shows and no translator reads. */
export const watchedKind: Recipe = {
  heading: "Adding a kind that agents watch",
  isNightly: true,
  names: { group: "gatewayApi", kind: "backendTlsPolicy" },
  edits: [
    createFile(
      "packages/api/src/gatewayApi/backendTlsPolicy.ts",
      `import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf } from "../shared/schema.ts";

/** How a Gateway connects to the pods of a Service. Source: gateway-api.sigs.k8s.io/reference/spec. */
export const BackendTLSPolicy = defineKind({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "BackendTLSPolicy",
  plural: "backendtlspolicies",
  fields: { spec: fields({ targetRefs: listOf(fields({ name: Type.String() })) }) },
});
`,
    ),
    insertBefore(
      ROLES,
      'import { KubernetesGateway } from "./gatewayApi/gateway.ts";',
      'import { BackendTLSPolicy } from "./gatewayApi/backendTlsPolicy.ts";\n',
    ),
    insertAfter(
      ROLES,
      '{ kind: AuthorizationPolicy, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"] },',
      '\n  { kind: BackendTLSPolicy, tasks: ["watchedByAgent", "inDiscoveryScope"], keptFor: CONSOLE },',
    ),
    insertBefore(
      "docs/reference/rbac.md",
      "  - { apiGroups: [appmesh.k8s.aws],",
      "  - { apiGroups: [gateway.networking.k8s.io], resources: [backendtlspolicies], verbs: [list, watch] }\n",
    ),
  ],
  tests: ["packages/translators/test/kindsRead.test.ts", "tests/security/agentRights.test.ts"],
  golden: {},
};
