import type { CatalogueEntries } from "./entry.ts";

/** Routing. */
export const ROUTING = {
  RTE1001: {
    severity: { rule: "error", status: "error" },
    title: "Target does not exist",
    meaning: "Requests are sent to a host or service that does not exist.",
    consequence: "Each request of the route is answered with 503; a TrafficPolicy is not in force.",
    remedy: "correct the service, or create it",
    example:
      "VirtualService bookinfo/moved in cluster-1: spec.http[0].route[0].destination.host: Service bookinfo/ratings does not exist in cluster-1",
  },
  RTE1002: {
    severity: { status: "error" },
    title: "Policy selects nothing",
    meaning: "A policy selects no Destination.",
    consequence: "The policy changes nothing, although it seems to be there.",
    remedy: "correct the selector",
    example:
      "TrafficPolicy bookinfo/simple: spec.destinationSelector[0].kubeServiceRefs.services[0]: Destination for service bookinfo/reviewz in cluster-1 not found: check the name, that its cluster is registered, and that its pods have sidecars of a mesh, as pods in ambient mode have no Destination yet",
  },
  RTE1003: {
    severity: { rule: "error", status: "error" },
    title: "Port is missing",
    meaning:
      "A route of a gateway, or of a policy, names no port of a service with several ports, or a route names one that the service does not have.",
    consequence: "Istio does not know where to send the requests: they fail, or the policy is not in force.",
    remedy: "set a port that the service has",
    example:
      "VirtualService bookinfo/reviews in cluster-1: spec.http[0].route[0].destination.port.number: is required, because Service bookinfo/ratings has 2 ports: 9080, 9090",
  },
  RTE1004: {
    severity: { status: "warning" },
    title: "Policies set one field",
    meaning: "Two policies set one field of one Destination.",
    consequence: "The older policy is in force for this field, the other one is not.",
    remedy: "merge the policies, or narrow one of them",
    example:
      "TrafficPolicy bookinfo/canary: spec.policy.requestTimeout: TrafficPolicy bookinfo/simple has precedence and sets timeout for the same traffic to Destination gloo-mesh/reviews-bookinfo-cluster-1: use the same value in both, narrow one of the policies, or remove this field",
  },
  RTE1005: {
    severity: { status: "warning" },
    title: "Host with an Istio object of a user",
    meaning: "A host is configured by an Istio object of a user as well.",
    consequence: "Istio uses only one of the two objects for a host, and which one depends on their age and names.",
    remedy: "remove one of the two",
    example:
      "TrafficPolicy bookinfo/slow: host reviews.bookinfo.svc.cluster.local is also configured by VirtualService bookinfo/mine in cluster-1; Istio uses only one of the two: remove that object, or this policy",
  },
  RTE1006: {
    severity: { rule: "warning", status: "warning" },
    title: "Route is never reached",
    meaning: "A route, or a rule for requests, is never reached.",
    consequence: "Its timeout, target or fault is never in force, although it is written.",
    remedy: "reorder or remove it",
    example:
      "VirtualService bookinfo/reviews in cluster-1: spec.http[1]: is never reached, nor is any route after it, because spec.http[0] takes every request",
  },
  RTE1008: {
    severity: { rule: "warning" },
    title: "DestinationRule for an unknown host",
    meaning: "A DestinationRule is for a host that is not in the registry.",
    consequence: "Its subsets and settings apply to no request.",
    remedy: "correct the host, or delete the DestinationRule",
    example: "DestinationRule bookinfo/reviews in cluster-1: spec.host: Service bookinfo/reviewz does not exist, so the rule has no effect",
  },
  RTE1009: {
    severity: { rule: "warning" },
    title: "Subset is defined twice",
    meaning: "Two DestinationRules of one namespace define one subset of one host.",
    consequence: "Which of the two label sets selects the pods is not defined, and can change.",
    remedy: "define the subset in one DestinationRule",
    example:
      "DestinationRule bookinfo/second in cluster-1: spec.subsets[0].name: subset v1 of host reviews.bookinfo.svc.cluster.local is defined in DestinationRule bookinfo/reviews in cluster-1 as well: which one is used is not defined",
  },
  RTE1010: {
    severity: { rule: "error", status: "error" },
    title: "Subset without pods",
    meaning: "A subset has labels that no pod of the service has: requests to it fail.",
    consequence: "Requests to the subset are answered with 503.",
    remedy: "correct the labels",
    example:
      "DestinationRule bookinfo/reviews in cluster-1: spec.subsets[0].labels.version: subset v9 is empty: no pod of reviews has version: v9, only v1, v2",
  },
  RTE1011: {
    severity: { rule: "warning", status: "warning" },
    title: "Weights have no effect",
    meaning: "Weights are missing, do not add up, or have no effect.",
    consequence: "Traffic is shared out in another way than the weights say: one destination of weight 20 gets everything.",
    remedy: "set weights that add up to 100",
    example:
      "VirtualService bookinfo/reviews in cluster-1: spec.http[0].route[0].weight: 20 counts as 100, because the route has one destination",
  },
  RTE1013: {
    severity: { rule: "warning", status: "warning" },
    title: "Timeout cuts retries short",
    meaning: "A timeout ends before the retries that are asked for.",
    consequence: "Later tries never take place, so that an error that a retry would hide is seen.",
    remedy: "raise the timeout, or lower attempts or perTryTimeout",
    example: "VirtualService bookinfo/reviews in cluster-1: spec.http[0].timeout: 2s ends before 6 tries of 1s each",
  },
  RTE1014: {
    severity: { rule: "info" },
    title: "Faults are injected for long",
    meaning: "A TrafficPolicy injects faults and is older than a day.",
    consequence: "Requests of users fail or wait on purpose, perhaps of a test that is over.",
    remedy: "remove faultInjection when the test is over",
    example: "TrafficPolicy bookinfo/simple: spec.policy.faultInjection: injects faults into 10 % of its requests, and is 31 d old",
  },
  RTE1015: {
    severity: { rule: "error", status: "error" },
    title: "Mirror does not exist",
    meaning: "The target of mirrored requests does not exist.",
    consequence: "The mirrored requests are lost, without an error that anybody sees; a TrafficPolicy is not in force.",
    remedy: "correct the service",
    example:
      "VirtualService bookinfo/reviews in cluster-1: spec.http[0].mirror.host: Service bookinfo/reviews-shadow does not exist in cluster-1",
  },
  RTE1016: {
    severity: { status: "error" },
    title: "Selector is not understood",
    meaning: "A selector is not understood.",
    consequence: "The policy is not in force, as a selector of which a part is ignored could select too much.",
    remedy: "correct the members of the selector",
    example:
      "TrafficPolicy gloo-mesh/p: spec.destinationSelecter: unknown field (did you mean destinationSelector?); the policy is rejected, because ignoring the field could make it apply to too much",
  },
  RTE1018: {
    severity: { rule: "error" },
    title: "Traffic to a cluster that is not connected",
    meaning: "A TrafficPolicy sends more than half of its traffic to clusters that are not connected.",
    consequence: "Endpoints of that cluster are those that were known last: where they have moved, requests fail.",
    remedy: "shift the traffic to a cluster that is connected",
    example:
      "TrafficPolicy bookinfo/simple: spec.policy.trafficShift.destinations: 100 % of the traffic goes to cluster-2, which is not connected: to the endpoints that were known last",
  },
  RTE1019: {
    severity: { status: "warning" },
    title: "Target is not federated",
    meaning: "Traffic is sent to a service of another cluster that is not federated.",
    consequence: "Callers of other clusters have no way to the service, and their requests fail.",
    remedy: "federate it in a VirtualMesh",
    example:
      "VirtualDestination gloo-mesh/reviews: spec: service bookinfo/reviews in cluster-2 is federated to no mesh, so other clusters cannot reach it by this host: select it in the federation of their VirtualMesh, and check the status of that",
  },
  RTE1020: {
    severity: { rule: "error" },
    title: "Host routed by two VirtualServices",
    meaning: "Two VirtualServices route one host for the sidecars of the mesh, and Istio uses only one of them.",
    consequence: "Routes, retries and timeouts of the other one do not apply, to any request.",
    remedy: "put the routes into one VirtualService, or limit each with exportTo to namespaces of its own",
    example:
      "VirtualService shop/second in cluster-1: spec.hosts[0]: reviews.bookinfo.svc.cluster.local is routed by VirtualService bookinfo/first in cluster-1 as well, and sidecars use one of the two",
  },
  RTE1021: {
    severity: { rule: "warning" },
    title: "ServiceEntries disagree on a protocol",
    meaning: "Two ServiceEntries give one port of one host different protocols.",
    consequence: "Which of the protocols a proxy uses for the port is not defined: routes of HTTP may not apply.",
    remedy: "give the port one protocol in both ServiceEntries",
    example:
      "ServiceEntry bookinfo/second in cluster-1: spec.ports[0].protocol: is HTTP, and ServiceEntry bookinfo/first in cluster-1 says HTTPS of port 443 of the same host",
  },
} as const satisfies CatalogueEntries;
