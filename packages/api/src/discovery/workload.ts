import type { ResourceOf } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields, strings, uint32 } from "../shared/schema.ts";
import { clusterObjectRef, generation, labels, objectRef, text } from "./schema.ts";

const workloadSpec = fields(
  {
    kubernetes: fields({
      controller: clusterObjectRef,
      podLabels: labels,
      serviceAccountName: text("Service account of the pod template. Empty: the default of the namespace."),
      hostNetwork: Type.Boolean({ description: "Whether its pods have the network of their nodes." }),
      noneReady: Type.Boolean({ description: "Whether none of its pods is ready." }),
      gateway: Type.Boolean({ description: "Whether its pods are a gateway of the mesh: they run nothing but its proxy." }),
    }),
    mesh: objectRef,
    appMesh: fields({
      virtualNodeName: text(),
      ports: Type.Array(fields({ port: uint32(), protocol: text() })),
    }),
  },
  { description: "The workload and its mesh." },
);

const applied = fields({ ref: objectRef, observedGeneration: generation, errors: strings() });

const workloadStatus = fields({
  observedGeneration: generation,
  readiness: text(
    "`0 ready` while none of its pods is ready; absent while one is, and where it is not known. A Workload exists as long as its controller does.",
  ),
  appliedAccessLogRecords: Type.Array(applied),
  appliedWasmDeployments: Type.Array(applied),
  serviceDependencies: fields({
    appliedServiceDependencies: Type.Array(fields({ serviceDependencyRef: objectRef, observedGeneration: generation })),
    destinationHostnames: strings(),
  }),
});

/** A controller (Deployment, DaemonSet, StatefulSet, or another that its pods or ReplicaSets tell of) whose pods are in a mesh, or will be while it has none. Written by discovery. */
export const Workload = defineKind({
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Workload",
  plural: "workloads",
  fields: { spec: workloadSpec, status: workloadStatus },
  crd: {
    description: "A controller of pods discovered in a mesh.",
    singular: "workload",
    shortNames: ["wkl"],
    categories: ["gloo-mesh"],
    printerColumns: [
      { name: "Cluster", type: "string", jsonPath: ".spec.kubernetes.controller.clusterName" },
      { name: "Namespace of Pods", type: "string", jsonPath: ".spec.kubernetes.controller.namespace" },
      { name: "Controller", type: "string", jsonPath: ".spec.kubernetes.controller.name" },
      { name: "Mesh", type: "string", jsonPath: ".spec.mesh.name" },
      { name: "Readiness", type: "string", jsonPath: ".status.readiness", priority: 1 },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
});
export type Workload = ResourceOf<typeof Workload>;
