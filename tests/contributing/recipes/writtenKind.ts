import { createFile, insertAfter, insertBefore, replaceText } from "../edit.ts";
import type { Recipe } from "../recipe.ts";
import { istioDestination } from "./inputs.ts";

const NAMES = {
  group: "smi",
  kind: "udpRoute",
  translator: "udpRoutes",
  folder: "udpRoutes",
  case: "services-with-a-label-have-their-ports-named",
};
const ROLES = "packages/api/src/roles.ts";
const DESTINATIONS = "packages/translators/src/meshes/istio/istio.ts";

/** UDPRoute of the Service Mesh Interface, for services with a label. */
export const writtenKind: Recipe = {
  heading: "Adding a kind that translation writes",
  isNightly: true,
  names: NAMES,
  edits: [
    createFile(
      "packages/api/src/smi/udpRoute.ts",
      `import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields } from "../shared/schema.ts";

/** Ports of datagrams. Source: github.com/servicemeshinterface/smi-spec, traffic-specs v1alpha4. */
export const UDPRoute = defineKind({
  apiVersion: "specs.smi-spec.io/v1alpha4",
  kind: "UDPRoute",
  plural: "udproutes",
  fields: { spec: fields({ matches: fields({ name: Type.String(), ports: Type.Array(Type.Integer()) }) }) },
});
export type UDPRoute = ReturnType<typeof UDPRoute.parse>;
`,
    ),
    insertBefore(
      "packages/api/src/index.ts",
      'export { type UnsupportedKind, unsupportedKind } from "./unsupportedKinds.ts";',
      'export { UDPRoute } from "./smi/udpRoute.ts";\n',
    ),
    insertAfter(ROLES, 'import { TrafficTarget } from "./smi/trafficTarget.ts";', '\nimport { UDPRoute } from "./smi/udpRoute.ts";'),
    insertAfter(ROLES, '{ kind: TCPRoute, tasks: ["delivered"] },', '\n  { kind: UDPRoute, tasks: ["delivered"] },'),
    replaceText(
      "docs/reference/rbac.md",
      "resources: [httproutegroups, tcproutes], verbs: [get, list, watch, create,",
      "resources: [httproutegroups, tcproutes, udproutes], verbs: [get, list, watch, create,",
    ),
    createFile(
      "packages/translators/src/meshes/istio/udpRoutes.ts",
      `import { UDPRoute } from "@isthmus/api";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../inputs.ts";
import { type OutputOrigin, outputOf } from "../outputMetadata.ts";

/** The ports of a Service with the label security=strict have a name. */
export function udpRouteFor(inputs: DestinationInputs, origin: OutputOrigin): TargetTranslation {
  const { ref, labels = {}, ports: all = [] } = inputs.destination.spec?.kubeService ?? {};
  if (ref === undefined || labels["security"] !== "strict") return emptyTranslation;
  const { name, namespace, clusterName } = ref;
  const spec = { matches: { name, ports: all.flatMap(({ port }) => port ?? []) } } satisfies UDPRoute["spec"];
  return { outputs: [outputOf({ name, namespace, clusterName, origin }, UDPRoute, spec)], reports: [] };
}
`,
    ),
    insertAfter(DESTINATIONS, 'import { sourceObjects } from "./sourceObjects.ts";', '\nimport { udpRouteFor } from "./udpRoutes.ts";'),
    insertAfter(DESTINATIONS, "\n    envoyFilterFor(inputs, origin),", "\n    udpRouteFor(inputs, origin),"),
    createFile(`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.in.yaml`, istioDestination),
  ],
  tests: ["packages/translators/test/kindsRead.test.ts", "tests/security/agentRights.test.ts"],
  golden: { [`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.out.yaml`]: "kind: UDPRoute" },
};
