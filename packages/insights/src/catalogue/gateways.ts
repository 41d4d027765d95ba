import type { CatalogueEntries } from "./entry.ts";

/** Gateways and resilience. */
export const GATEWAYS = {
  ING1001: {
    severity: { rule: "error" },
    title: "Gateways collide",
    meaning: "Two Gateways open one port of the same pods for the same host.",
    consequence: "Which of them answers, and with which certificate, is not defined and can change.",
    remedy: "merge the Gateways, or choose different hosts",
    example:
      "Gateway payments/other in cluster-1: spec.servers[0].hosts[0]: ./shop.example.com on port 443 is served by Gateway bookinfo/shop in cluster-1 as well, on the same pods",
  },
  ING1002: {
    severity: { rule: "warning" },
    title: "Gateway selects no pods",
    meaning: "A Gateway selects no gateway pods.",
    consequence: "Nothing listens on its ports.",
    remedy: "correct the labels, or install a gateway with them",
    example:
      "Gateway bookinfo/shop in cluster-1: spec.selector: no Deployment or DaemonSet has pods with istio: ingres, so no gateway opens these ports",
  },
  ING1003: {
    severity: { rule: "error" },
    title: "Gateway does not exist",
    meaning: "A VirtualService names a Gateway that does not exist, and one of a similar name does.",
    consequence: "The routes are in force at no gateway of this name: requests from outside get 404.",
    remedy: "correct the name, or create the Gateway",
    example:
      "VirtualService bookinfo/reviews in cluster-1: spec.gateways[1]: Gateway bookinfo/shopp does not exist, so the routes are not in force there",
  },
  ING1004: {
    severity: { rule: "warning" },
    title: "Host that the Gateway does not serve",
    meaning: "A Gateway does not serve a host of a VirtualService that names it.",
    consequence: "Requests for this host are not taken by the gateway, so that the routes never apply to them.",
    remedy: "add the host to a server of the Gateway, or correct it",
    example:
      "VirtualService bookinfo/reviews in cluster-1: spec.hosts[0]: Gateway bookinfo/shop in cluster-1 does not serve store.example.com for namespace bookinfo, only ./shop.example.com",
  },
  ING1005: {
    severity: { rule: "warning" },
    title: "Port that the Service does not open",
    meaning: "The Service of a gateway does not open a port of a Gateway.",
    consequence: "The gateway listens on the port, and nothing outside of the cluster reaches it.",
    remedy: "add the port to the Service, or correct it",
    example:
      "Gateway bookinfo/shop in cluster-1: spec.servers[0].port.number: 8443 is not a port of Service istio-system/gateway in cluster-1, so nobody reaches it from outside",
  },
  RES1001: {
    severity: { rule: "warning", status: "warning" },
    title: "Failover without outlier detection",
    meaning: "Failover is configured without usable outlier detection: it cannot begin.",
    consequence: "Istio fails over only from endpoints that outlier detection has taken out: without it, requests continue to fail.",
    remedy: "complete outlierDetection, with consecutive5xxErrors, interval and baseEjectionTime",
    example:
      "DestinationRule bookinfo/reviews in cluster-1: spec.trafficPolicy.outlierDetection: is missing: without it Istio does not notice endpoints that fail, and never fails over",
  },
  RES1002: {
    severity: { rule: "warning" },
    title: "Federated service with one pod",
    meaning: "A federated service has a single pod in all clusters together.",
    consequence: "While that pod restarts, callers in all clusters get errors.",
    remedy: "scale its workload to 2 pods or more, or run it in a second cluster",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: Service bookinfo/reviews in cluster-1 is federated and has one pod in all clusters together",
  },
  RES1003: {
    severity: { rule: "warning" },
    title: "Control plane or gateway with one pod",
    meaning: "The control plane or a gateway of a mesh runs as a single pod.",
    consequence: "While that pod restarts, no proxy starts, or no call from other clusters arrives.",
    remedy: "scale it to 2 pods or more",
    example:
      "Deployment istio-system/istiod in cluster-1: spec.replicas: is 1: while the pod restarts, no proxy starts, and none gets changes",
  },
} as const satisfies CatalogueEntries;
