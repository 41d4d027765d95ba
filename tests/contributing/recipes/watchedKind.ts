import { createFile, insertAfter, insertBefore } from "../edit.ts";
import type { Recipe } from "../recipe.ts";

const ROLES = "packages/api/src/roles.ts";

/** HTTPRoute of the Gateway API, which the console shows and no translator reads. */
export const watchedKind: Recipe = {
  heading: "Adding a kind that agents watch",
  names: { group: "gatewayApi", kind: "httpRoute" },
  edits: [
    createFile(
      "packages/api/src/gatewayApi/httpRoute.ts",
      `import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf } from "../shared/schema.ts";

/** Which requests of a Gateway go where. Source: gateway-api.sigs.k8s.io/reference/spec. */
export const HTTPRoute = defineKind({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  plural: "httproutes",
  fields: { spec: fields({ hostnames: listOf(Type.String()) }) },
});
`,
    ),
    insertBefore(
      ROLES,
      'import { AuthorizationPolicy } from "./istio/authorizationPolicy.ts";',
      'import { HTTPRoute } from "./gatewayApi/httpRoute.ts";\n',
    ),
    insertAfter(
      ROLES,
      '{ kind: AuthorizationPolicy, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"] },',
      '\n  { kind: HTTPRoute, tasks: ["watchedByAgent", "inDiscoveryScope"], keptFor: CONSOLE },',
    ),
    insertBefore(
      "docs/reference/rbac.md",
      "  - { apiGroups: [appmesh.k8s.aws],",
      "  - { apiGroups: [gateway.networking.k8s.io], resources: [httproutes], verbs: [list, watch] }\n",
    ),
  ],
  tests: ["packages/translators/test/kindsRead.test.ts", "tests/security/agentRights.test.ts"],
  golden: {},
};
