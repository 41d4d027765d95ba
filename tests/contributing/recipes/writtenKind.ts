import { createFile, insertAfter, insertBefore, replaceText } from "../edit.ts";
import type { Recipe } from "../recipe.ts";
import { istioDestination } from "./inputs.ts";

const NAMES = {
  group: "istio",
  kind: "peerAuthentication",
  translator: "peerAuthentications",
  folder: "mtls",
  case: "services-with-a-label-accept-mutual-tls-only",
};
const ROLES = "packages/api/src/roles.ts";
const DESTINATIONS = "packages/translators/src/meshes/istio/istio.ts";

/** PeerAuthentication, for services with a label. */
export const writtenKind: Recipe = {
  heading: "Adding a kind that translation writes",
  isNightly: true,
  names: NAMES,
  edits: [
    createFile(
      "packages/api/src/istio/peerAuthentication.ts",
      `import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields } from "../shared/schema.ts";
import { podSelector } from "./fragments.ts";
import { SECURITY_VERSIONS } from "./versions.ts";

/** Which TLS pods accept. Source: istio.io/docs/reference/config/security/peer_authentication. */
export const PeerAuthentication = defineKind({
  apiVersion: "security.istio.io/v1",
  kind: "PeerAuthentication",
  plural: "peerauthentications",
  versions: SECURITY_VERSIONS,
  fields: { spec: fields({ selector: podSelector, mtls: fields({ mode: Type.String() }) }) },
});
export type PeerAuthentication = ReturnType<typeof PeerAuthentication.parse>;
`,
    ),
    insertBefore(
      "packages/api/src/index.ts",
      "export { ServiceEntry,",
      'export { PeerAuthentication } from "./istio/peerAuthentication.ts";\n',
    ),
    insertBefore(
      ROLES,
      'import { ServiceEntry } from "./istio/serviceEntry.ts";',
      'import { PeerAuthentication } from "./istio/peerAuthentication.ts";\n',
    ),
    insertAfter(ROLES, '{ kind: EnvoyFilter, tasks: ["delivered"] },', '\n  { kind: PeerAuthentication, tasks: ["delivered"] },'),
    replaceText(
      "docs/reference/rbac.md",
      "resources: [authorizationpolicies], verbs: [get, list, watch, create,",
      "resources: [authorizationpolicies, peerauthentications], verbs: [get, list, watch, create,",
    ),
    createFile(
      "packages/translators/src/meshes/istio/peerAuthentications.ts",
      `import { PeerAuthentication } from "@isthmus/api";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../inputs.ts";
import { type OutputOrigin, outputOf } from "../outputMetadata.ts";

/** The pods of a Service with the label security=strict accept mutual TLS only. */
export function peerAuthenticationFor(inputs: DestinationInputs, origin: OutputOrigin): TargetTranslation {
  const { ref, labels = {}, workloadSelectorLabels: matchLabels = {} } = inputs.destination.spec?.kubeService ?? {};
  if (ref === undefined || labels["security"] !== "strict") return emptyTranslation;
  const { name, namespace, clusterName } = ref;
  const spec = { selector: { matchLabels }, mtls: { mode: "STRICT" } } satisfies PeerAuthentication["spec"];
  return { outputs: [outputOf({ name, namespace, clusterName, origin }, PeerAuthentication, spec)], reports: [] };
}
`,
    ),
    insertBefore(
      DESTINATIONS,
      'import { podsOutsideMesh } from "./podsOutsideMesh.ts";',
      'import { peerAuthenticationFor } from "./peerAuthentications.ts";\n',
    ),
    insertAfter(DESTINATIONS, "\n    envoyFilterFor(inputs, origin),", "\n    peerAuthenticationFor(inputs, origin),"),
    createFile(`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.in.yaml`, istioDestination),
  ],
  tests: ["packages/translators/test/kindsRead.test.ts", "tests/security/agentRights.test.ts"],
  golden: { [`packages/translators/testdata/${NAMES.folder}/${NAMES.case}.out.yaml`]: "mode: STRICT" },
};
