import { add, changes, type Fault, patch, withoutEndpoints } from "./fault.ts";

const ALL = "VirtualMesh gloo-mesh/all";
const WEST = "IssuedCertificate gloo-mesh/istiod-istio-system-west in west";
const OTHER_ROOT = "b".repeat(64);

/** Mishaps of clusters, their trust and their federation. */
export const clusterFaults: readonly Fault[] = [
  {
    title: "a mesh has another root",
    change: patch(WEST, `status: {inForce: {trusted: [${OTHER_ROOT}], signers: [${OTHER_ROOT}]}}`),
    code: "CRT1006",
    on: ALL,
  },
  {
    title: "a certificate authority is refused",
    change: patch(WEST, "status: {state: FAILED, error: no key}"),
    code: "CRT1004",
    on: WEST,
    also: { "CRT1004 VirtualMesh gloo-mesh/all": "it asks for it" },
  },
  {
    title: "a certificate authority ends",
    change: patch(WEST, "status: {installed: {notAfter: '2026-02-05T00:00:00Z'}}"),
    code: "CRT1003",
    on: WEST,
  },
  {
    title: "a control plane uses its earlier certificate authority",
    change: patch(WEST, "status: {isControlPlaneOutdated: true}"),
    code: "CRT1007",
    on: WEST,
  },
  {
    title: "pods use earlier certificates",
    change: patch(WEST, "status: {podsToRestart: [shop/cart-v1-1], podsToRestartCount: 1}"),
    code: "CRT1008",
    on: WEST,
  },
  {
    title: "the certificate of an agent ends",
    change: patch("KubernetesCluster gloo-mesh/west", "status: {agent: {certificateNotAfter: '2026-02-01T00:40:00Z'}}"),
    code: "CRT1002",
    on: "KubernetesCluster gloo-mesh/west",
  },
  {
    title: "a cluster is not connected",
    change: patch("KubernetesCluster gloo-mesh/south", "status: {state: OFFLINE}"),
    code: "REL1001",
    on: "KubernetesCluster gloo-mesh/south",
  },
  {
    title: "Redis is full",
    change: add(`{apiVersion: settings.mesh.gloo.solo.io/v1, kind: Settings, metadata: {name: settings, namespace: gloo-mesh}, spec: {},
      status: {conditions: [{type: StoreHasRoom, status: "False", reason: Full, message: Redis is full}]}}`),
    code: "REL1013",
    on: "Settings gloo-mesh/settings",
  },
  {
    title: "a cluster lags",
    change: patch("KubernetesCluster gloo-mesh/south", "status: {state: LAGGING}"),
    code: "REL1004",
    on: "KubernetesCluster gloo-mesh/south",
  },
  {
    title: "most of the traffic goes to a cluster that is not connected",
    change: changes(
      patch("KubernetesCluster gloo-mesh/west", "status: {state: OFFLINE}"),
      patch(
        "TrafficPolicy gloo-mesh/reviews-shift",
        "spec: {policy: {trafficShift: {destinations: [{kubeService: {name: reviews, namespace: bookinfo, clusterName: west, port: 9080}}]}}}",
      ),
    ),
    code: "RTE1018",
    on: "TrafficPolicy gloo-mesh/reviews-shift",
    also: { "REL1001 KubernetesCluster gloo-mesh/west": "it is the one" },
  },
  {
    title: "a gateway has no address",
    change: patch("Service istio-gateways/istio-ingressgateway in west", "status: {loadBalancer: null}"),
    code: "FED1004",
    on: ALL,
  },
  {
    title: "a mesh is misspelt",
    change: patch(
      ALL,
      "spec: {meshes: [{name: istiod-istio-system-east, namespace: gloo-mesh}, {name: istiod-istio-system-west, namespace: gloo-mesh}, {name: istiod-istio-system-soth, namespace: gloo-mesh}]}",
    ),
    code: "FED1001",
    on: ALL,
  },
  {
    title: "a mesh is in two VirtualMeshes",
    change: add(`
apiVersion: networking.mesh.gloo.solo.io/v1
kind: VirtualMesh
metadata: {name: second, namespace: gloo-mesh, creationTimestamp: '2026-01-02T00:00:00Z'}
spec: {meshes: [{name: istiod-istio-system-east, namespace: gloo-mesh}]}
`),
    code: "FED1002",
    on: "VirtualMesh gloo-mesh/second",
  },
  {
    title: "a control plane refuses callers with the trust domain of another mesh",
    change: patch(
      "Deployment istio-system/istiod in east",
      "spec: {template: {spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.27.1', env: [{name: CLUSTER_ID, value: east}]}]}}}",
    ),
    code: "FED1018",
    on: ALL,
  },
  {
    title: "sidecars do not answer DNS, as by default",
    change: patch("ConfigMap istio-system/istio in east", "data: {mesh: '{trustDomain: east.example}'}"),
    code: "FED1019",
    on: ALL,
  },
  {
    title: "sidecars do not answer DNS for federated hosts",
    change: changes(
      patch(ALL, "spec: {federation: {hostnameSuffix: corp}}"),
      patch("ConfigMap istio-system/istio in east", "data: {mesh: '{trustDomain: east.example}'}"),
    ),
    code: "FED1016",
    on: ALL,
    also: { "RTE1019 TrafficPolicy gloo-mesh/reviews-shift": "its traffic fails" },
  },
  {
    title: "a Service has other ports in one cluster",
    change: patch("Service bookinfo/ratings in west", "spec: {ports: [{name: http, port: 9081, targetPort: 9080}]}"),
    code: "FED1007",
    on: "Destination gloo-mesh/ratings-bookinfo-west",
  },
  {
    title: "the control planes of a VirtualMesh are of versions far apart",
    change: patch(
      "Deployment istio-system/istiod in south",
      "spec: {template: {spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.24.1'}]}}}",
    ),
    code: "FED1012",
    on: ALL,
    also: { "CFG1009 Workload gloo-mesh/*-south-deployment": "its proxies are newer" },
  },
  {
    title: "a control plane is too old",
    change: patch(
      "Deployment istio-system/istiod in south",
      "spec: {template: {spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.16.1', env: [{name: PILOT_SKIP_VALIDATE_TRUST_DOMAIN, value: 'true'}]}]}}}",
    ),
    code: "UPG1001",
    on: "Mesh gloo-mesh/istiod-istio-system-south",
    also: {
      "FED1012 VirtualMesh gloo-mesh/all": "the others are newer",
      "CFG1009 Workload gloo-mesh/*-south-deployment": "its proxies are newer",
    },
  },
  {
    title: "everything is federated to every mesh",
    change: patch(ALL, "spec: {federation: {selectors: [{}]}}"),
    code: "FED1013",
    on: ALL,
  },
  {
    title: "a federation selects nothing",
    change: patch(ALL, "spec: {federation: {selectors: [{destinationSelectors: [{kubeServiceMatcher: {namespaces: [bokinfo]}}]}]}}"),
    code: "FED1015",
    on: ALL,
    also: { "RTE1019 TrafficPolicy gloo-mesh/reviews-shift": "its traffic fails" },
  },
  {
    title: "a federated Service has no endpoints",
    change: withoutEndpoints("details", "bookinfo", "west"),
    code: "FED1009",
    on: "Destination gloo-mesh/details-bookinfo-west",
  },
  {
    title: "an API server refuses an object",
    change: patch(
      "KubernetesCluster gloo-mesh/south",
      "status: {conditions: [{type: WritesRefused, status: 'True', reason: NotWritten, message: 'an object of those desired is not written: VirtualService shop/cart: no'}]}",
    ),
    code: "REL1005",
    on: "KubernetesCluster gloo-mesh/south",
  },
  {
    title: "an agent is connected and does not report",
    change: patch(
      "KubernetesCluster gloo-mesh/south",
      "status: {state: SYNCING, conditions: [{type: Synced, status: Unknown, lastTransitionTime: '2026-01-31T20:00:00Z'}]}",
    ),
    code: "REL1003",
    on: "KubernetesCluster gloo-mesh/south",
  },
  {
    title: "somebody changes a generated object of a frozen cluster",
    change: patch("KubernetesCluster gloo-mesh/south", "{spec: {mode: freeze}, status: {comparison: {mode: freeze, wouldChange: 1}}}"),
    code: "CFG1014",
    on: "KubernetesCluster gloo-mesh/south",
  },
  {
    title: "generated objects stay in a frozen cluster",
    change: patch("KubernetesCluster gloo-mesh/south", "{spec: {mode: freeze}, status: {comparison: {mode: freeze, wouldDelete: 3}}}"),
    code: "FED1010",
    on: "KubernetesCluster gloo-mesh/south",
  },
  {
    title: "another management plane writes in a cluster",
    change: add(`
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: details.bookinfo.svc.south.global, namespace: istio-system, clusterName: west, labels: {owner.networking.mesh.gloo.solo.io: other}}
spec: {hosts: [details.bookinfo.svc.north.global], ports: [{number: 9080, name: http, protocol: HTTP}], resolution: STATIC}
`),
    code: "CFG1015",
    on: "KubernetesCluster gloo-mesh/west",
  },
  {
    title: "istiod calls its cluster by the name that it has by default",
    change: patch(
      "Deployment istio-system/istiod in south",
      "spec: {template: {spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.27.1', env: [{name: CLUSTER_ID, value: Kubernetes}, {name: PILOT_SKIP_VALIDATE_TRUST_DOMAIN, value: 'true'}]}]}}}",
    ),
    code: "FED1011",
    on: "Deployment istio-system/istiod in south",
  },
  {
    title: "Cilium cannot set up a pod",
    change: add(`
apiVersion: cilium.io/v2
kind: CiliumEndpoint
metadata: {name: cart-v1-1, namespace: shop, clusterName: east}
status: {state: not-ready}
`),
    code: "HLT1002",
    on: "KubernetesCluster gloo-mesh/east",
  },
  {
    title: "the Settings leave a namespace out that a policy names",
    change: changes(
      add(`
apiVersion: settings.mesh.gloo.solo.io/v1
kind: Settings
metadata: {name: settings, namespace: gloo-mesh}
spec: {discovery: {selectors: [{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [payments]}]}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: payments, clusterName: west}
`),
      patch(
        "TrafficPolicy gloo-mesh/ratings-timeout",
        "spec: {destinationSelector: [{kubeServiceMatcher: {namespaces: [bookinfo, payments]}}]}",
      ),
    ),
    code: "CFG1016",
    on: "Namespace payments in west",
  },
];
