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
    version: text("Tag or digest of the control plane image."),
    region: text("Region of the first node of the cluster."),
  },
  { description: "Location of the control plane." },
);
/** Where a control plane runs. */
export type MeshInstallation = Value<typeof meshInstallation>;

const ingressGateway = fields(
  {
    name: text("Name of the Service of the gateway."),
    namespace: text("Namespace of the Service of the gateway."),
    workloadLabels: labels,
    externalAddress: text("Deprecated copy of dnsName or ip."),
    dnsName: text("External host name of the gateway."),
    ip: text("External IP address of the gateway."),
    externalTlsPort: uint32({ description: "External port of the gateway." }),
    tlsContainerPort: uint32({ description: "Port on which the pods of the gateway listen." }),
  },
  eitherOf("dnsName", "ip"),
);
/** A Service through which other clusters reach a mesh. */
export type IngressGateway = Value<typeof ingressGateway>;

const istioMesh = fields({
  installation: meshInstallation,
  trustDomain: text("SPIFFE trust domain. Empty: not known."),
  trustDomainAliases: strings({ description: "Trust domains that count as its own in rules." }),
  trustDomainProblem: text("Why the mesh configuration, or its trust domain, is not used. The last known one is used instead."),
  severalTrustDomains: Type.Boolean({
    description:
      "Whether control planes of its cluster have different trust domains, or one that is not known: then that of a pod is not known.",
  }),
  rootNamespace: text(
    "Root namespace of the mesh configuration: policies in it are about the whole mesh. Empty: the namespace of the control plane.",
  ),
  istiodServiceAccount: text("Service account of istiod; the identity in its CA certificate."),
  ingressGateways: Type.Array(ingressGateway, { description: "Deprecated: gateways are selected in the VirtualMesh." }),
  smartDnsProxyingEnabled: Type.Boolean({ description: "Whether sidecars proxy DNS for hosts of ServiceEntries." }),
  autoMtlsDisabled: Type.Boolean({ description: "Whether sidecars use no mutual TLS where nothing says a TLS mode." }),
  ipFamilies: strings({ description: "Address families of the Services of the cluster: IPv4, IPv6. Empty: IPv4 alone." }),
  privateByDefault: strings({
    description: "Kinds whose objects are not seen in all namespaces unless they say so in exportTo, by the mesh configuration.",
  }),
  ambientNamespaces: strings({
    description: "Namespaces of the cluster whose pods are in ambient mode, by their label istio.io/dataplane-mode: the first 100 by name.",
  }),
  systemNamespaces: strings({
    description:
      "Namespaces of the cluster that count as infrastructure, beside the usual ones: those that webhooks of meshes name, that of the control plane, and spec.systemNamespaces of the " +
      "KubernetesCluster. Absent if nothing vouches for any: then all count.",
  }),
});

const cilium = fields(
  {
    version: text("Tag of the image of the Cilium agent, without v."),
    namespace: text("Namespace of Cilium."),
    clusterName: text("Name of the cluster in Cilium, which identities of pods contain."),
    clusterId: text("ID of the cluster in Cilium."),
    enforcement: text("Enforcement mode of policies: default, always or never."),
    l7Proxy: Type.Boolean({ description: "Whether rules for HTTP are available." }),
    clusterMesh: Type.Boolean({ description: "Whether the cluster takes part in a Cilium Cluster Mesh." }),
    identityLabels: text("Which labels of pods are part of their identity. Empty: the defaults of Cilium."),
    warnings: strings({ description: "Settings of Cilium that keep policies, or the sidecars of the mesh, from being in force." }),
    held: text("Why Cilium counts although its DaemonSet is gone. Empty: it is there."),
  },
  { description: "Cilium in the cluster of the mesh. Absent if it is not found." },
);
/** Cilium in one cluster. */
export type CiliumInstallation = Value<typeof cilium>;

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
    agentInfo: fields(
      {
        agentNamespace: text(),
        serviceName: text(
          "Name of the Service by which proxies reach the agent. Empty: it has none. Absent: gloo-mesh-agent, or the agent does not report it.",
        ),
        servicePort: uint32({ description: "Port of that Service for access logs and Wasm filters. Absent: 9977." }),
      },
      { description: "Location of the agent of the cluster. Absent if the cluster has no agent." },
    ),
    cilium,
    held: fields({ reason: text() }, { description: "Why the mesh is published although its control plane is gone. Absent: it is there." }),
  },
  atMostOneOf("istio", "awsAppMesh", "linkerd", "consulConnect", "osm"),
);
/** Where the agent of a cluster is. */
export type MeshAgentInfo = NonNullable<Value<typeof meshSpec>["agentInfo"]>;

/** What is known of a mesh. */
export type MeshSpec = Value<typeof meshSpec>;

const appliedEastWestIngressGateway = fields({
  destinationRef: objectRef,
  externalAddresses: strings(),
  destinationPort: uint32({ description: "External port of the gateway." }),
  containerPort: uint32({ description: "Port on which the pods of the gateway listen." }),
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
    spec: preserved<VirtualMeshSpec>("Last valid spec of the VirtualMesh that this mesh belongs to."),
  }),
  appliedVirtualDestinations: Type.Array(fields({ ref: objectRef, observedGeneration: generation, errors: strings() })),
  appliedEastWestIngressGateways: Type.Array(appliedEastWestIngressGateway),
  userObjects: Type.Array(
    fields({
      group: text("API group."),
      kind: text("Kind."),
      count: uint32({ description: "Number of objects." }),
    }),
    {
      description:
        "What users themselves have written for Istio, the Gateway API and multi-cluster Services in the cluster of the mesh, as far as its agent reports it. Kinds without objects are left out.",
    },
  ),
  cilium: fields(
    {
      identities: uint32({ description: "Number of CiliumIdentities." }),
      nodes: uint32({ description: "Number of CiliumNodes." }),
    },
    { description: "What is counted of Cilium in the cluster of the mesh. What is not known is absent." },
  ),
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
    description: "A service mesh control plane discovered in a registered cluster.",
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
