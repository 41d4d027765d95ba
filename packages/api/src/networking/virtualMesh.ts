import { Type } from "@sinclair/typebox";
import { approvalColumns, approvalFields, approvalsByMesh, approvalsByTarget } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { lastAcceptedSpec } from "../shared/lastAcceptedSpec.ts";
import { userObjectRef } from "../shared/refs.ts";
import { fields, listOf, oneOfWords, uint32, userFields } from "../shared/schema.ts";
import { destinationSelector } from "../shared/selectors.ts";
import { tcpKeepalive } from "./connectionPool.ts";
import { failureDetection } from "./failureDetection.ts";
import { mtlsConfig } from "./trust.ts";

const federation = userFields(
  {
    eastWestIngressGatewaySelectors: listOf(
      userFields({
        destinationSelectors: listOf(destinationSelector, {
          description: "Services of gateways. Empty: those whose pods have the label istio: ingressgateway or istio: eastwestgateway.",
        }),
        portName: Type.String({ description: "Name of the port for traffic from other clusters. Default: `tls`." }),
      }),
      { description: "Gateways for traffic from other clusters. Empty: the discovered gateways.", maxItems: 64 },
    ),
    selectors: listOf(
      userFields({
        destinationSelectors: listOf(destinationSelector, { description: "Destinations to federate. Empty: all." }),
        meshes: listOf(userObjectRef(), {
          description: "Meshes that may call the destinations. Empty: all meshes of the VirtualMesh.",
          maxItems: 256,
        }),
      }),
      {
        description:
          "Which destinations are federated to which meshes. `[{}]` federates all destinations to all meshes. Empty: none, or all if `permissive` is set.",
        maxItems: 256,
      },
    ),
    permissive: userFields(
      {},
      {
        description:
          "Federates all destinations to all meshes if `selectors` is not set. Prefer selectors: [{}]. Default: only what `selectors` says.",
      },
    ),
    flatNetwork: Type.Boolean({
      description:
        "States that pods reach each other across clusters. Only shown in statuses; gateways are used in any case. Default: false.",
    }),
    hostnameSuffix: Type.String({
      description:
        "Suffix of the host names of federated services. Default: `global`. Other suffixes require Istio's DNS proxying in the calling mesh.",
    }),
    tcpKeepalive,
    failover: userFields(
      { outlierDetection: failureDetection("When endpoints count as failing.") },
      {
        description:
          "Not part of the published API. If set, a federated service fails over to the services of the same name and namespace in other clusters: " +
          "its own cluster first, then clusters of its region, then others. Requires mtlsConfig.shared. Default: it does not fail over.",
      },
    ),
  },
  { description: "Which services can be called from other meshes, and how." },
);

const virtualMeshSpec = userFields(
  {
    meshes: listOf(userObjectRef(), { description: "Meshes in the group. A mesh can be in one VirtualMesh. Empty: none." }),
    mtlsConfig,
    federation,
    globalAccessPolicy: oneOfWords(["MESH_DEFAULT", "ENABLED", "DISABLED"], {
      description: "ENABLED: calls require an AccessPolicy. DISABLED, MESH_DEFAULT (the default): the setting of each mesh is kept.",
    }),
  },
  { description: "Meshes of the group and the settings that they share." },
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
      meshes: approvalsByMesh,
      destinations: approvalsByTarget,
      meshCount: uint32({ description: "Number of meshes." }),
      targetCount: uint32({ description: "Number of federated destinations." }),
      acceptedCount: uint32({ description: "Number of destinations whose federation is in force." }),
      lastAccepted: lastAcceptedSpec(
        "The last spec without errors, except meshes that are not found. It stays in force while a later spec has errors. Absent for a spec larger than 256 KiB: of that nothing stays.",
      ),
    }),
  },
  crd: {
    description: "Groups meshes that share trust, services and access rules.",
    shortNames: ["vmesh"],
    categories: ["gloo-mesh"],
    singular: "virtualmesh",
    printerColumns: [
      approvalColumns[0],
      { name: "Meshes", type: "integer", jsonPath: ".status.meshCount", description: "Number of meshes." },
      { name: "Federated", type: "integer", jsonPath: ".status.targetCount", description: "Number of federated destinations." },
      ...approvalColumns.slice(2),
    ],
  },
});

export type VirtualMesh = ReturnType<typeof VirtualMesh.parse>;
