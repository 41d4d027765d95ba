import type { ResourceOf } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import type { AccessPolicySpec } from "../networking/accessPolicy.ts";
import type { TrafficPolicySpec } from "../networking/trafficPolicySpec.ts";
import type { VirtualDestinationSpec } from "../networking/virtualDestination.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { atMostOneOf, fields, mapOf, oneOfWords, strings, uint32 } from "../shared/schema.ts";
import { clusterObjectRef, creation, eitherOf, firstSeen, generation, labels, objectRef, preserved, text, userRef } from "./schema.ts";

const kubeServicePort = fields(
  {
    port: uint32(),
    name: text(),
    protocol: text(),
    appProtocol: text(),
    targetPortName: text(),
    targetPortNumber: uint32(),
    nodePort: uint32(),
  },
  eitherOf("targetPortName", "targetPortNumber"),
);
/** A port of a Kubernetes Service. */
export type KubeServicePort = Value<typeof kubeServicePort>;

const endpoint = fields({
  ipAddress: text(),
  labels,
  subLocality: fields({ zone: text(), subZone: text() }),
  outsideMesh: Type.Boolean({ description: "Whether the pod has no sidecar." }),
});
/** A pod that backs a Service. */
export type Endpoint = Value<typeof endpoint>;

const endpointPort = fields({ port: uint32(), name: text(), protocol: text(), appProtocol: text() });

const endpointSubset = fields({ endpoints: Type.Array(endpoint), ports: Type.Array(endpointPort) });
/** Endpoints that share their ports. */
export type EndpointSubset = Value<typeof endpointSubset>;

const externalAddress = fields({ dnsName: text(), ip: text() }, eitherOf("dnsName", "ip"));
/** An address at which a Service is reached from outside its cluster. */
export type ExternalAddress = Value<typeof externalAddress>;

const SERVICE_TYPES = ["CLUSTER_IP", "NODE_PORT", "LOAD_BALANCER", "EXTERNAL_NAME"] as const;

const kubeService = fields(
  {
    ref: clusterObjectRef,
    workloadSelectorLabels: labels,
    labels,
    ports: Type.Array(kubeServicePort),
    subsets: mapOf(fields({ values: strings() }), { description: "Labels by which the backing workloads differ, with their values." }),
    region: text(),
    endpointSubsets: Type.Array(endpointSubset),
    externalAddresses: Type.Array(externalAddress),
    serviceType: oneOfWords(SERVICE_TYPES, { description: "If omitted, CLUSTER_IP." }),
    serviceAccounts: strings({
      description:
        "Service accounts of the pods that the Service selects, and of those that their workloads make next, in order. Absent if that of an endpoint is not known.",
    }),
    outsideMesh: strings({
      description: "Names of controllers of pods that the Service selects and that have no sidecar, at most 10, in order.",
    }),
  },
  // Discovery always gives it; without it one that is written by hand says of which Service it speaks to nobody.
  { required: ["ref"] },
);
/** What is known of a Kubernetes Service. */
export type KubeService = Value<typeof kubeService>;

const externalService = fields({
  name: text(),
  hosts: strings(),
  addresses: strings(),
  ports: Type.Array(fields({ number: uint32(), name: text(), protocol: text("HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP or TLS.") })),
  endpoints: Type.Array(fields({ address: text(), ports: mapOf(uint32()) })),
});

const destinationSpec = fields(
  { kubeService, externalService, mesh: objectRef },
  { description: "The service and its mesh.", ...atMostOneOf("kubeService", "externalService") },
);
/** What is known of a destination. */
export type DestinationSpec = Value<typeof destinationSpec>;

const destinationStatus = fields({
  observedGeneration: generation,
  appliedTrafficPolicies: Type.Array(
    fields({
      ref: userRef,
      observedGeneration: generation,
      creationTimestamp: creation,
      firstSeen,
      spec: preserved<TrafficPolicySpec>("The accepted spec."),
      virtualDestinations: Type.Array(fields({ ref: userRef, spec: preserved<VirtualDestinationSpec>("The spec as read.") }), {
        description: "For a policy in a workload cluster: VirtualDestinations in that cluster that it sends traffic to.",
      }),
    }),
    {
      description: "TrafficPolicies in force, in order of precedence.",
    },
  ),
  appliedAccessPolicies: Type.Array(
    fields({
      ref: userRef,
      observedGeneration: generation,
      creationTimestamp: creation,
      firstSeen,
      spec: preserved<AccessPolicySpec>("The current spec."),
      lastAccepted: fields(
        { generation, spec: preserved<object>("The spec of that generation.") },
        { description: "For a policy whose current spec is not in force: the spec that was last in force." },
      ),
    }),
    {
      description:
        "AccessPolicies that apply to the destination, in order of precedence, including those that allow no callers because of an error.",
    },
  ),
  localFqdn: text("Host name inside the cluster of the Service."),
  appliedFederation: fields({
    federatedHostname: text("Host name in the meshes to which the destination is federated."),
    federatedToMeshes: Type.Array(objectRef),
    flatNetwork: Type.Boolean(),
    virtualMeshRef: userRef,
    tcpKeepalive: fields({ probes: uint32(), time: text(), interval: text() }),
    failover: fields(
      {
        outlierDetection: fields({ consecutiveErrors: uint32(), interval: text(), baseEjectionTime: text(), maxEjectionPercent: uint32() }),
      },
      { description: "Present if the destination fails over to services of the same name and namespace in other clusters." },
    ),
  }),
  readiness: text(
    "`0 ready` while none of the endpoints of the Service is ready, so that calls are answered with 503; absent while one is, and where it is not known. A Destination exists as long as its Service and the controllers of its pods do.",
  ),
  requiredSubsets: Type.Array(
    fields({
      trafficPolicyRef: userRef,
      observedGeneration: generation,
      trafficShift: preserved<object>("trafficShift of the policy."),
    }),
  ),
});
/** What networking did to a destination. */
export type DestinationStatus = Value<typeof destinationStatus>;

/** What traffic can be sent to: a Kubernetes Service of a mesh, written by discovery, or an external service, written by users. */
export const Destination = defineKind({
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Destination",
  plural: "destinations",
  fields: { spec: destinationSpec, status: destinationStatus },
  crd: {
    description: "A service that can receive traffic.",
    singular: "destination",
    shortNames: ["dest"],
    categories: ["gloo-mesh"],
    printerColumns: [
      { name: "Cluster", type: "string", jsonPath: ".spec.kubeService.ref.clusterName" },
      { name: "Mesh", type: "string", jsonPath: ".spec.mesh.name" },
      { name: "Federated Host", type: "string", jsonPath: ".status.appliedFederation.federatedHostname" },
      { name: "Local Host", type: "string", jsonPath: ".status.localFqdn", priority: 1 },
      { name: "Readiness", type: "string", jsonPath: ".status.readiness", priority: 1 },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
});
export type Destination = ResourceOf<typeof Destination>;
