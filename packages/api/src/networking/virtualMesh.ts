import { Type } from "@sinclair/typebox";
import { approvalColumns, approvalFields, approvalsByTarget } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { userObjectRef } from "../shared/refs.ts";
import { fields, listOf, oneOfWords, uint32, userFields } from "../shared/schema.ts";
import { destinationSelector } from "../shared/selectors.ts";
import { tcpKeepalive } from "./connectionPool.ts";
import { mtlsConfig } from "./trust.ts";

const federation = userFields(
  {
    eastWestIngressGatewaySelectors: listOf(
      userFields({
        destinationSelectors: listOf(destinationSelector, {
          description: "Services of gateways. Empty: those whose pods are labelled istio: ingressgateway.",
        }),
        portName: Type.String({ description: "Name of the port that takes traffic of other clusters. Default tls." }),
      }),
      { description: "Which gateways take traffic of other clusters. Empty: those that discovery found.", maxItems: 64 },
    ),
    selectors: listOf(
      userFields({
        destinationSelectors: listOf(destinationSelector, { description: "Destinations to federate. Empty: all." }),
        meshes: listOf(userObjectRef(), { description: "Meshes that may call them. Empty: all meshes of the VirtualMesh.", maxItems: 256 }),
      }),
      { description: "What is federated to where; `[{}]` is everything to everywhere.", maxItems: 256 },
    ),
    permissive: userFields(
      {},
      { description: "Everything is federated to everywhere, unless `selectors` is given. Prefer selectors: [{}]." },
    ),
    flatNetwork: Type.Boolean({ description: "Pods reach each other across clusters. It is only noted in statuses; gateways are used." }),
    hostnameSuffix: Type.String({
      description:
        "Last part of the host names of federated services. Default global; any other needs Istio's DNS proxying in the calling mesh.",
    }),
    tcpKeepalive,
  },
  { description: "Which services of one mesh can be called from others, and how." },
);

const virtualMeshSpec = userFields(
  {
    meshes: listOf(userObjectRef(), { description: "The meshes that are grouped. A mesh belongs to one VirtualMesh." }),
    mtlsConfig,
    federation,
    globalAccessPolicy: oneOfWords(["MESH_DEFAULT", "ENABLED", "DISABLED"], {
      description: "ENABLED: calls need an AccessPolicy. DISABLED, MESH_DEFAULT (the default): as the meshes have it.",
    }),
  },
  { description: "The meshes and what they share." },
);

export type VirtualMeshSpec = Value<typeof virtualMeshSpec>;

/** Groups meshes that trust each other, share services and access rules. */
export const VirtualMesh = defineKind({
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "VirtualMesh",
  plural: "virtualmeshes",
  fields: {
    spec: virtualMeshSpec,
    status: fields({
      ...approvalFields,
      meshes: approvalsByTarget,
      destinations: approvalsByTarget,
      meshCount: uint32({ description: "Number of its meshes." }),
      targetCount: uint32({ description: "Number of destinations that are federated." }),
      acceptedCount: uint32({ description: "Number of destinations whose federation is in force." }),
    }),
  },
  crd: {
    description: "Groups meshes that trust each other, share services and access rules.",
    shortNames: ["vmesh"],
    categories: ["gloo-mesh"],
    singular: "virtualmesh",
    printerColumns: [
      approvalColumns[0],
      { name: "Meshes", type: "integer", jsonPath: ".status.meshCount", description: "Number of its meshes." },
      { name: "Federated", type: "integer", jsonPath: ".status.targetCount", description: "Number of destinations that are federated." },
      ...approvalColumns.slice(2),
    ],
  },
});

export type VirtualMesh = ReturnType<typeof VirtualMesh.parse>;
