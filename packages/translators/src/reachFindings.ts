/** What is reported of hosts, ports and addresses that others cannot reach, or that an API server would refuse: a part of the catalogue in `findings.ts`. */
export const REACH_FINDINGS = {
  ClusterNameInvalid: {
    meaning: "The name of a registered cluster is no DNS label. It is a part of host names and certificates, where it has to be one.",
    example:
      'metadata.name: "eu.corp" is no DNS label of at most 63 lower-case letters, digits and dashes, so no agent can register under it, and host names with it cannot be read: register the cluster under another name',
  },
  NoPortToFederate: {
    meaning: "A Service has no port that gateways can forward. It is not federated.",
    example:
      "Destination gloo-mesh/db-apps-east is not federated: its Service has no ports, so there is nothing to be called at its host name",
  },
  HostTooLong: {
    meaning: "The federated host of a Service is longer than DNS allows. The Service is not federated.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-east is not federated: its host reviews.bookinfo.svc.… has 262 characters, of 253 that DNS allows: set a shorter spec.federation.hostnameSuffix, or shorter names of Service and namespace",
  },
  AddressFamilyMissing: {
    meaning:
      "The gateways of a mesh have no address of a family that the Services of another cluster have. Calls from there may have no route.",
    example:
      "Mesh gloo-mesh/istiod-istio-system-six is reached at 2001:db8:1::101, and Services of four have IPv4 addresses alone: calls from there fail unless their pods have a route: give its gateways an IPv4 address, or a host name",
  },
  EndpointsOmitted: {
    meaning: "A ServiceEntry would have more endpoints than API servers accept. Calls from other clusters reach a part of the pods.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-east: calls from other clusters reach 4096 of its 5000 pods, as a ServiceEntry has at most 4096 endpoints: divide its pods among several Services",
  },
  PortMissingAtPods: {
    meaning: "Some pods of a Service do not have one of its named ports. Istio sends calls from other clusters to them all the same.",
    example:
      "Destination gloo-mesh/api-apps-east: port http-admin (81) leads to no port of 1 of its 2 pods, so calls of it from other clusters fail there: give the port this name in all pods, or divide them among several Services",
  },
  ServiceWithoutPorts: {
    meaning: "A TrafficPolicy selects a Service without ports, to which no requests are routed.",
    example: "Service apps/db in east has no ports, so no requests are routed to it: this policy has no effect there",
  },
  MutualTlsRefused: {
    meaning:
      "Mutual TLS is asked for by name, or needed for calls from other clusters, and a PeerAuthentication has the pods of the Service take plain text alone, so calls to it fail.",
    example:
      "Destination gloo-mesh/legacy-apps-east: PeerAuthentication apps/legacy in east has its pods take plain text alone, so calls to it fail, as their TLS mode is ISTIO_MUTUAL: set mtls.mode there to STRICT or PERMISSIVE, or remove it",
  },
} as const;
