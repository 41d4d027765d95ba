import { add, changes, type Fault, patch } from "./fault.ts";

const SHIFT = "TrafficPolicy gloo-mesh/reviews-shift";
const TIMEOUT = "TrafficPolicy gloo-mesh/ratings-timeout";

/** A further policy for ratings, younger than the others. */
const policy = (rules: string, selector = "kubeServiceMatcher: {namespaces: [bookinfo], labels: {app: ratings}}") =>
  add(`
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: second, namespace: gloo-mesh, creationTimestamp: '2026-01-31T12:00:00Z'}
spec: {destinationSelector: [{${selector}}], policy: {${rules}}}
`);
const SECOND = "TrafficPolicy gloo-mesh/second";

/** Mistakes in TrafficPolicies. */
export const trafficPolicyFaults: readonly Fault[] = [
  { title: "two policies set one field", change: policy("requestTimeout: 9s"), code: "RTE1004", on: SECOND },
  {
    title: "a policy selects a Service that does not exist",
    change: policy("requestTimeout: 9s", "kubeServiceRefs: {services: [{name: ratngs, namespace: bookinfo, clusterName: east}]}"),
    code: "RTE1002",
    on: SECOND,
  },
  {
    title: "a selector is misspelt",
    change: patch(SHIFT, "spec: {destinationSelecter: [{kubeServiceMatcher: {namespaces: [bookinfo]}}], destinationSelector: null}"),
    code: "RTE1016",
    on: SHIFT,
  },
  {
    title: "traffic is shifted to a subset that is not there",
    change: patch(
      SHIFT,
      "spec: {policy: {trafficShift: {destinations: [{kubeService: {name: reviews, namespace: bookinfo, clusterName: east, port: 9080, subset: {version: v9}}}]}}}",
    ),
    code: "RTE1010",
    on: SHIFT,
  },
  {
    title: "traffic is shifted to a Service that does not exist",
    change: patch(
      SHIFT,
      "spec: {policy: {trafficShift: {destinations: [{kubeService: {name: reviws, namespace: bookinfo, clusterName: east, port: 9080}}]}}}",
    ),
    code: "RTE1001",
    on: SHIFT,
  },
  {
    title: "traffic is shifted to a Service that is not federated",
    change: patch(
      SHIFT,
      "spec: {policy: {trafficShift: {destinations: [{kubeService: {name: cart, namespace: shop, clusterName: west, port: 9080}}]}}}",
    ),
    code: "RTE1019",
    on: SHIFT,
  },
  {
    title: "requests are mirrored to a Service that does not exist",
    change: patch(TIMEOUT, "spec: {policy: {mirror: {kubeService: {name: shadow, namespace: bookinfo, clusterName: east}}}}"),
    code: "RTE1015",
    on: TIMEOUT,
  },
  {
    title: "retries do not fit into the timeout",
    change: patch(TIMEOUT, "spec: {policy: {retries: {attempts: 9, perTryTimeout: 4s}}}"),
    code: "RTE1013",
    on: TIMEOUT,
  },
  {
    title: "faults are still injected",
    change: patch(TIMEOUT, "spec: {policy: {faultInjection: {percentage: 10, fixedDelay: 1s}}}"),
    code: "RTE1014",
    on: TIMEOUT,
  },
  {
    title: "a user's VirtualService is for the same host",
    change: changes(
      add(`
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: mine, namespace: bookinfo, clusterName: east}
spec: {hosts: [ratings], exportTo: [.], http: [{route: [{destination: {host: ratings}}]}]}
`),
    ),
    code: "RTE1005",
    on: TIMEOUT,
  },
  {
    title: "mutual TLS is switched off for Services whose meshes share their trust",
    change: policy("mtls: {istio: {tlsMode: DISABLE}}"),
    code: "SEC1006",
    on: "VirtualMesh gloo-mesh/all",
    also: { "SEC1019 AccessPolicy gloo-mesh/*": "callers have no identity, so that policies let none of them in" },
  },
];
