import { changes, type Fault, patch, remove } from "./fault.ts";

const FROM_OUTSIDE = "AuthorizationPolicy bookinfo/from-outside in east";
const PAGE_CALLS = "AccessPolicy gloo-mesh/page-calls";
const GATEWAYS_CALL = "AccessPolicy gloo-mesh/gateways-call";
const POLICY = "CiliumNetworkPolicy istio-gateways/gateway in east";
const UNNAMED = "callers by the misspelt name are those of no AccessPolicy";
const OPEN = "what nobody may call by this policy, all may call";

/** Mistakes in who may call whom. */
export const accessFaults: readonly Fault[] = [
  {
    title: "a rule names a service account that does not exist",
    change: patch(
      FROM_OUTSIDE,
      "spec: {rules: [{from: [{source: {principals: [east.example/ns/istio-gateways/sa/istio-ingresgateway]}}]}]}",
    ),
    code: "SEC1005",
    on: FROM_OUTSIDE,
  },
  {
    title: "a rule names a namespace that does not exist",
    change: patch(FROM_OUTSIDE, "spec: {rules: [{from: [{source: {namespaces: [istio-gateway]}}]}]}"),
    code: "SEC1007",
    on: FROM_OUTSIDE,
    also: { [`SEC1019 ${GATEWAYS_CALL}`]: UNNAMED },
  },
  {
    title: "the namespace in a principal is misspelt",
    change: patch(
      FROM_OUTSIDE,
      "spec: {rules: [{from: [{source: {principals: [east.example/ns/istio-gateway/sa/istio-ingressgateway]}}]}]}",
    ),
    code: "SEC1007",
    on: FROM_OUTSIDE,
    also: { [`SEC1019 ${GATEWAYS_CALL}`]: UNNAMED },
  },
  {
    title: "a policy is for pods that do not exist",
    change: patch(FROM_OUTSIDE, "spec: {selector: {matchLabels: {app: productpag}}}"),
    code: "SEC1004",
    on: FROM_OUTSIDE,
  },
  {
    title: "a policy of the root namespace is for pods that do not exist",
    change: patch("AuthorizationPolicy istio-system/no-admin in east", "spec: {selector: {matchLabels: {app: productpag}}}"),
    code: "SEC1004",
    on: "AuthorizationPolicy istio-system/no-admin in east",
  },
  {
    title: "a policy of the root namespace denies callers whom an AccessPolicy names",
    change: patch("AuthorizationPolicy istio-system/no-admin in east", "spec: {rules: [{from: [{source: {namespaces: [shop]}}]}]}"),
    code: "SEC1019",
    on: GATEWAYS_CALL,
  },
  {
    title: "a policy lets in callers whom no AccessPolicy names",
    change: patch(FROM_OUTSIDE, "spec: {rules: [{from: [{source: {namespaces: [bookinfo]}}]}]}"),
    code: "SEC1019",
    on: GATEWAYS_CALL,
  },
  {
    title: "an AccessPolicy names a service account that does not exist",
    change: patch(
      PAGE_CALLS,
      "spec: {sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: bookinfo-produktpage, namespace: bookinfo, clusterName: east}]}}]}",
    ),
    code: "SEC1016",
    on: PAGE_CALLS,
  },
  {
    title: "an AccessPolicy names a service account of a namespace that does not exist",
    change: patch(
      PAGE_CALLS,
      "spec: {sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: bookinfo-productpage, namespace: bookinf, clusterName: east}]}}]}",
    ),
    code: "SEC1016",
    on: PAGE_CALLS,
  },
  {
    title: "an AccessPolicy selects no Service",
    change: patch(PAGE_CALLS, "spec: {destinationSelector: [{kubeServiceMatcher: {namespaces: [bookinfo], labels: {tier: bakc}}}]}"),
    code: "SEC1004",
    on: PAGE_CALLS,
    also: { "SEC1003 Mesh *": OPEN },
  },
  {
    title: "an AccessPolicy is for callers that do not exist",
    change: patch(GATEWAYS_CALL, "spec: {sourceSelector: [{kubeIdentityMatcher: {namespaces: [istio-gateway]}}]}"),
    code: "SEC1004",
    on: GATEWAYS_CALL,
  },
  {
    title: "an AccessPolicy without callers",
    change: patch(GATEWAYS_CALL, "spec: {sourceSelector: null}"),
    code: "SEC1013",
    on: GATEWAYS_CALL,
  },
  {
    title: "Services of a namespace have no AccessPolicy",
    change: patch(GATEWAYS_CALL, "spec: {destinationSelector: [{kubeServiceMatcher: {namespaces: [bookinfo], labels: {tier: front}}}]}"),
    code: "SEC1003",
    on: "Mesh gloo-mesh/istiod-istio-system-east",
    also: { "SEC1003 Mesh *": "they are in each cluster" },
  },
  {
    title: "all calls need a policy, and there is none",
    change: changes(
      patch("VirtualMesh gloo-mesh/all", "spec: {globalAccessPolicy: ENABLED}"),
      remove(PAGE_CALLS, GATEWAYS_CALL),
      ...["east", "west", "south"].map((cluster) => remove(`AuthorizationPolicy bookinfo/from-outside in ${cluster}`)),
    ),
    code: "SEC1001",
    on: "VirtualMesh gloo-mesh/all",
  },
  {
    title: "a CiliumNetworkPolicy shuts the port for other clusters",
    change: patch(POLICY, "spec: {ingress: [{toPorts: [{ports: [{port: '8080', protocol: TCP}]}]}]}"),
    code: "SEC1012",
    on: POLICY,
  },
  {
    title: "Cilium refuses a policy",
    change: patch(POLICY, "status: {conditions: [{type: Valid, status: 'False', message: invalid label}]}"),
    code: "CFG1019",
    on: POLICY,
  },
  {
    title: "Cilium enforces no policy",
    change: patch("ConfigMap kube-system/cilium-config in east", "data: {enable-policy: never}"),
    code: "SEC1015",
    on: "Mesh gloo-mesh/istiod-istio-system-east",
  },
  {
    title: "nothing shows the flows of the network",
    change: patch("Deployment kube-system/hubble-relay in east", "spec: {replicas: 0}"),
    code: "HLT0011",
    on: "Deployment kube-system/hubble-relay in east",
  },
];
