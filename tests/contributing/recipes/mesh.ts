import { createFile, insertBefore, replaceText } from "../edit.ts";
import type { Recipe } from "../recipe.ts";

const NAMES = { mesh: "linkerd", discovered: "linkerd", case: "a-traffic-shift-is-a-traffic-split" };
const DETECTORS = "packages/translators/src/discovery/detectors";
const MESHES = "packages/translators/src/meshes";
const TESTDATA = "packages/translators/testdata";

/** Linkerd, with traffic shifts. */
export const mesh: Recipe = {
  heading: "Adding a mesh",
  isNightly: true,
  names: NAMES,
  edits: [
    createFile(
      `${DETECTORS}/linkerdMesh.ts`,
      `import { containerWithImage, installationInUse, installationOf, type MeshDetector } from "./controlPlane.ts";

const DESTINATION = "linkerd-destination";
const IMAGE = ["linkerd", "controller"];

/** Detects Linkerd by the controller that resolves destinations. */
export const linkerdMesh: MeshDetector = {
  isControlPlane: (deployment) => deployment.metadata.name === DESTINATION && containerWithImage(deployment, IMAGE) !== undefined,
  detect(inputs) {
    const found = installationOf(inputs.deployment, containerWithImage(inputs.deployment, IMAGE), "");
    const { installation, reports } = installationInUse(found, inputs);
    return installation === undefined ? { reports } : { spec: { linkerd: { installation } }, reports };
  },
};
`,
    ),
    createFile(
      `${DETECTORS}/linkerdSidecar.ts`,
      `import type { SidecarDetector } from "./sidecar.ts";

/** Detects the proxy of Linkerd. */
export const linkerdSidecar: SidecarDetector = {
  name: "Linkerd",
  isInjected: ({ spec }) => (spec?.containers ?? []).some(({ name }) => name === "linkerd-proxy"),
  meshOf: (_pod, meshes) => meshes.find(({ spec }) => spec?.linkerd !== undefined),
};
`,
    ),
    insertBefore(
      `${DETECTORS}/index.ts`,
      'import { osmMesh } from "./osmMesh.ts";',
      'import { linkerdMesh } from "./linkerdMesh.ts";\nimport { linkerdSidecar } from "./linkerdSidecar.ts";\n',
    ),
    replaceText(`${DETECTORS}/index.ts`, "[istioMesh, osmMesh]", "[istioMesh, osmMesh, linkerdMesh]"),
    replaceText(
      `${DETECTORS}/index.ts`,
      "[istioSidecar, appMeshSidecar, osmSidecar]",
      "[istioSidecar, appMeshSidecar, osmSidecar, linkerdSidecar]",
    ),
    createFile(
      `${MESHES}/linkerd/linkerdTranslator.ts`,
      `import { TrafficSplit } from "@isthmus/api";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../inputs.ts";
import type { MeshTranslator } from "../meshTranslator.ts";
import { originOf, outputOf } from "../outputMetadata.ts";

/** Linkerd. Supports traffic shifts only. */
export const linkerdTranslator: MeshTranslator = {
  type: "linkerd",
  displayName: "a Linkerd mesh",
  translateDestination: trafficSplitOfPolicy,
  hasSubsets: false,
};

function trafficSplitOfPolicy(inputs: DestinationInputs): TargetTranslation {
  const { destination, trafficPolicies } = inputs;
  const service = destination.spec?.kubeService?.ref;
  const policy = trafficPolicies.find(({ spec }) => spec?.policy?.trafficShift !== undefined);
  if (service === undefined || policy === undefined) return emptyTranslation;
  const { name, namespace, clusterName } = service;
  const backends = (policy.spec?.policy?.trafficShift?.destinations ?? []).map(({ kubeService, weight = 0 }) => ({
    service: kubeService?.name ?? "",
    weight,
  }));
  const origin = originOf({ ...inputs, parents: [policy], annotationsOf: destination });
  const spec = { service: name, backends } satisfies TrafficSplit["spec"];
  return { outputs: [outputOf({ name, namespace, clusterName, origin }, TrafficSplit, spec)], reports: [] };
}
`,
    ),
    insertBefore(
      `${MESHES}/meshTranslators.ts`,
      'import type { MeshTranslator, MeshType } from "./meshTranslator.ts";',
      'import { linkerdTranslator } from "./linkerd/linkerdTranslator.ts";\n',
    ),
    replaceText(`${MESHES}/meshTranslators.ts`, "[istioTranslator, osmTranslator]", "[istioTranslator, osmTranslator, linkerdTranslator]"),
    createFile(
      `${TESTDATA}/discovery/meshes/${NAMES.discovered}.in.yaml`,
      `apiVersion: apps/v1
kind: Deployment
metadata: {name: linkerd-destination, namespace: linkerd, clusterName: a}
spec:
  selector: {matchLabels: {linkerd.io/control-plane-component: destination}}
  template: {spec: {containers: [{name: destination, image: "cr.l5d.io/linkerd/controller:stable-2.14.10"}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop, clusterName: a}
spec:
  selector: {matchLabels: {app: cart}}
  template: {metadata: {labels: {app: cart}}, spec: {containers: [{name: app, image: "example/app:1"}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: cart-5f6b, namespace: shop, clusterName: a, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: cart, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: cart-5f6b-x, namespace: shop, clusterName: a, labels: {app: cart}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: cart-5f6b, controller: true}]}
spec:
  containers: [{name: app, image: "example/app:1"}, {name: linkerd-proxy, image: "cr.l5d.io/linkerd/proxy:stable-2.14.10"}]
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop, clusterName: a}
spec: {selector: {app: cart}, ports: [{name: http, port: 80, targetPort: 8080, protocol: TCP}]}
`,
    ),
    createFile(
      `${TESTDATA}/linkerd/${NAMES.case}.in.yaml`,
      `apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: linkerd-a, namespace: gloo-mesh}
spec:
  linkerd:
    installation: {namespace: linkerd, cluster: a}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-a, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: a}
    workloadSelectorLabels: {app: cart}
    ports:
    - {port: 80, name: http, protocol: TCP}
  mesh: {name: linkerd-a, namespace: gloo-mesh}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: canary, namespace: gloo-mesh}
spec:
  policy:
    trafficShift:
      destinations:
      - weight: 90
        kubeService: {name: cart, namespace: shop, clusterName: a}
`,
    ),
  ],
  tests: [],
  golden: {
    [`${TESTDATA}/discovery/meshes/${NAMES.discovered}.out.yaml`]: "name: linkerd-destination-linkerd-a",
    [`${TESTDATA}/linkerd/${NAMES.case}.out.yaml`]: "kind: TrafficSplit",
  },
};
