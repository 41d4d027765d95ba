import { Type } from "@sinclair/typebox";
import { approvalColumns, approvalFields, approvalsByTarget } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { lastAcceptedSpec } from "../shared/lastAcceptedSpec.ts";
import { userClusterObjectRef, userObjectRef } from "../shared/refs.ts";
import { atMostOneOf, fields, listOf, port, uint32, userFields } from "../shared/schema.ts";
import { destinationSelector } from "../shared/selectors.ts";
import { failureDetection } from "./failureDetection.ts";

const PART_OF_REGION = "not supported, failover is from region to region";

const locality = (description: string) =>
  userFields(
    {
      region: Type.String({ description: "Region, as the nodes' label topology.kubernetes.io/region has it. Required." }),
      zone: Type.String({ unsupported: PART_OF_REGION }),
      subZone: Type.String({ unsupported: PART_OF_REGION }),
    },
    { description },
  );

const outlierDetection = failureDetection("When endpoints count as failing. Applies to `static` too.");

const servicePort = userFields(
  {
    number: port({ description: "Port at which clients call the host. Required." }),
    protocol: Type.String({ description: "HTTP (the default), HTTPS, GRPC, HTTP2, MONGO, TCP or TLS; upper or lower case." }),
    targetName: Type.String({ description: "Name of the port of the Services. Default: `targetNumber` is used." }),
    targetNumber: port({ description: "Number of the port of the Services. Default: `number`." }),
  },
  { description: "The port of the host, and the Services' port behind it.", ...atMostOneOf("targetName", "targetNumber") },
);

const staticOrder = userFields(
  {
    destinations: listOf(
      userFields(
        { kubeService: userClusterObjectRef({ description: "A Kubernetes Service. Required." }) },
        { description: "One destination." },
      ),
      {
        description: "Destinations in order: each gets traffic while those before it fail. The order is the same in all meshes. Required.",
        maxItems: 64,
      },
    ),
  },
  { description: "Destinations in a fixed order. Required unless `localized` is set." },
);

const localized = userFields(
  {
    destinationSelectors: listOf(destinationSelector, {
      description: "Destinations: at least one entry must match. Required unless `static` is set.",
      maxItems: 256,
    }),
    failoverDirectives: listOf(
      userFields({
        from: locality("Region of the mesh that calls. Required."),
        to: listOf(locality("A region to fail over to."), { description: "Regions, in order of preference. Required.", maxItems: 64 }),
      }),
      {
        description:
          "Which regions a mesh of one region fails over to, in order. After the mesh's own cluster and region, and before all other regions, which have no order. Empty: none has an order.",
        maxItems: 256,
      },
    ),
    outlierDetection,
  },
  {
    description:
      "Destinations by distance: those of the caller's own cluster, then of its region, then of others. Required unless `static` is set.",
  },
);

const virtualDestinationSpec = userFields(
  {
    hostname: Type.String({ description: "Host name by which clients call the destination, such as reviews.mesh.global. Required." }),
    port: servicePort,
    virtualMesh: userObjectRef({ description: "VirtualMesh whose meshes can call the host. Required unless `meshList` is set." }),
    meshList: userFields(
      { meshes: listOf(userObjectRef(), { description: "Meshes of one VirtualMesh. Required.", maxItems: 256 }) },
      { description: "Meshes that can call the host. If set, `virtualMesh` is ignored. Default: the meshes of `virtualMesh`." },
    ),
    static: staticOrder,
    localized,
  },
  { description: "A host name for Services of several clusters, with failover between them." },
);

export type VirtualDestinationSpec = Value<typeof virtualDestinationSpec>;

const clusterObject = fields({ name: Type.String(), namespace: Type.String(), clusterName: Type.String() });

/** A host name that stands for services of several clusters. */
export const VirtualDestination = defineKind({
  apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
  kind: "VirtualDestination",
  plural: "virtualdestinations",
  fields: {
    spec: virtualDestinationSpec,
    status: fields({
      ...approvalFields,
      meshes: approvalsByTarget,
      selectedDestinations: listOf(
        fields({
          ref: fields({ name: Type.String(), namespace: Type.String() }),
          destination: fields({ kubeService: clusterObject }),
        }),
        { description: "Destinations behind the host, at most 1,000." },
      ),
      requiredSubsets: listOf(
        fields({
          trafficPolicyRef: fields({ name: Type.String(), namespace: Type.String() }),
          observedGeneration: Type.Integer({ format: "int64", description: "Generation of the policy that was read." }),
          trafficShift: Type.Unsafe<object>({
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            description: "trafficShift of the policy.",
          }),
        }),
        { description: "TrafficPolicies that shift traffic to some of the pods behind the host, at most 1,000." },
      ),
      targetCount: uint32({ description: "Number of meshes that the host is exported to." }),
      acceptedCount: uint32({ description: "Number of meshes in which the host can be called." }),
      destinationCount: uint32({ description: "Number of destinations behind the host." }),
      lastAccepted: lastAcceptedSpec(
        "The last spec without errors. It stays in force while a later spec has errors. Absent for a spec larger than 32 KiB.",
      ),
    }),
  },
  crd: {
    description: "A host name for Services of several clusters, with failover between them.",
    shortNames: ["vdest"],
    categories: ["gloo-mesh"],
    singular: "virtualdestination",
    printerColumns: [
      { name: "Host", type: "string", jsonPath: ".spec.hostname", description: "Host name." },
      { name: "State", type: "string", jsonPath: ".status.state", description: "State of the object." },
      { name: "Meshes", type: "integer", jsonPath: ".status.targetCount", description: "Number of meshes that can call the host." },
      { name: "Destinations", type: "integer", jsonPath: ".status.destinationCount", description: "Number of destinations." },
      ...approvalColumns.slice(2),
    ],
  },
});

export type VirtualDestination = ReturnType<typeof VirtualDestination.parse>;
