import type { ResourceOf } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import type { VirtualMeshSpec } from "../networking/virtualMesh.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { atMostOneOf, fields, strings, uint32 } from "../shared/schema.ts";
import { creation, eitherOf, firstSeen, generation, labels, objectRef, preserved, text, userRef } from "./schema.ts";

const meshInstallation = fields(
  {
    namespace: text("Namespace of the control plane."),
    cluster: text("Cluster of the control plane."),
    podLabels: labels,
    version: text("Tag or digest of the control plane's image."),
    region: text("Region of the cluster's first node."),
  },
  { description: "Where a control plane runs." },
);
/** Where a control plane runs. */
export type MeshInstallation = Value<typeof meshInstallation>;

const ingressGateway = fields(
  {
    name: text("Name of the gateway's Service."),
    namespace: text("Namespace of the gateway's Service."),
    workloadLabels: labels,
    externalAddress: text("Deprecated copy of dnsName or ip."),
    dnsName: text("Host name at which other clusters reach the gateway."),
    ip: text("IP address at which other clusters reach the gateway."),
    externalTlsPort: uint32({ description: "Port at which other clusters reach the gateway." }),
    tlsContainerPort: uint32({ description: "Port on which the gateway's pods listen." }),
  },
  eitherOf("dnsName", "ip"),
);
/** A Service through which other clusters reach a mesh. */
export type IngressGateway = Value<typeof ingressGateway>;

const istioMesh = fields({
  installation: meshInstallation,
  trustDomain: text("SPIFFE trust domain; empty means cluster.local."),
  trustDomainProblem: text("Why the mesh configuration's own trust domain, or all of it, is not used: then what was last known is."),
  istiodServiceAccount: text("Service account of istiod, the identity of its CA certificate."),
  ingressGateways: Type.Array(ingressGateway, { description: "Deprecated: a VirtualMesh selects its gateways." }),
  smartDnsProxyingEnabled: Type.Boolean({ description: "Whether sidecars answer DNS for hosts of ServiceEntries." }),
});

const meshSpec = fields(
  {
    istio: istioMesh,
    awsAppMesh: fields({
      awsName: text(),
      region: text(),
      awsAccountId: text(),
      arn: text(),
      clusters: strings(),
    }),
    linkerd: fields({ installation: meshInstallation, clusterDomain: text() }),
    consulConnect: fields({ installation: meshInstallation }),
    osm: fields({ installation: meshInstallation }),
    agentInfo: fields({ agentNamespace: text() }, { description: "Where the cluster's agent runs; absent when it has none." }),
  },
  atMostOneOf("istio", "awsAppMesh", "linkerd", "consulConnect", "osm"),
);
/** What is known of a mesh. */
export type MeshSpec = Value<typeof meshSpec>;

const appliedEastWestIngressGateway = fields({
  destinationRef: objectRef,
  externalAddresses: strings(),
  destinationPort: uint32({ description: "Port at which other clusters reach the gateway." }),
  containerPort: uint32({ description: "Port on which the gateway's pods listen." }),
});
/** A gateway through which a VirtualMesh reaches a mesh. */
export type AppliedEastWestIngressGateway = Value<typeof appliedEastWestIngressGateway>;

const meshStatus = fields({
  observedGeneration: generation,
  appliedVirtualMesh: fields({
    ref: userRef,
    observedGeneration: generation,
    creationTimestamp: creation,
    firstSeen,
    spec: preserved<VirtualMeshSpec>("The last valid spec of the VirtualMesh that this mesh belongs to."),
  }),
  appliedVirtualDestinations: Type.Array(fields({ ref: objectRef, observedGeneration: generation, errors: strings() })),
  appliedEastWestIngressGateways: Type.Array(appliedEastWestIngressGateway),
});
/** What networking did to a mesh. */
export type MeshStatus = Value<typeof meshStatus>;

/** A service mesh control plane in a registered cluster. Written by discovery, its status by networking. */
export const Mesh = defineKind({
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Mesh",
  plural: "meshes",
  fields: { spec: meshSpec, status: meshStatus },
  crd: {
    description: "A service mesh control plane that was discovered in a registered cluster.",
    singular: "mesh",
    categories: ["gloo-mesh"],
    printerColumns: [
      { name: "Cluster", type: "string", jsonPath: ".metadata.labels.cluster\\.discovery\\.mesh\\.gloo\\.solo\\.io" },
      { name: "Version", type: "string", jsonPath: ".spec.*.installation.version" },
      { name: "Trust Domain", type: "string", jsonPath: ".spec.istio.trustDomain" },
      { name: "Virtual Mesh", type: "string", jsonPath: ".status.appliedVirtualMesh.ref.name" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
});
export type Mesh = ResourceOf<typeof Mesh>;
