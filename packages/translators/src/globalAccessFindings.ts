/** What is reported of gateways where access is closed: a part of the catalogue in `findings.ts`. */
export const GLOBAL_ACCESS_FINDINGS = {
  GatewayClosed: {
    meaning:
      "A VirtualMesh requires AccessPolicies, and a gateway of one of its meshes is not exempted, because it is not in a namespace of infrastructure or is not called from outside.",
    example:
      "spec.globalAccessPolicy: all calls of gateway Destination gloo-mesh/team-gateway-apps-east are denied with 403, also those from outside, because namespace apps is not one of infrastructure: to let callers in, create an AccessPolicy with destinationSelector: [{kubeServiceRefs: {services: [{name: team-gateway, namespace: apps, clusterName: east}]}}], and with sourceSelector: [{}] for those from outside",
  },
  GatewayLabelsTaken: {
    meaning:
      "A VirtualMesh requires AccessPolicies, and pods have the labels by which a gateway in the root namespace of their mesh is exempted. They are denied all calls, because they would be exempted with it.",
    example:
      "spec.globalAccessPolicy: all calls of apps/report in east are denied, because the labels istio: ingressgateway of the pods are those by which a gateway in root namespace istio-system is exempted, and Istio would exempt them as well: give them other labels",
  },
} as const;
