import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields } from "../shared/schema.ts";

/** A mesh of AWS App Mesh, as its controller for Kubernetes has it. Source: aws.github.io/aws-app-mesh-controller-for-k8s. */
export const AppMesh = defineKind(
  {
    apiVersion: "appmesh.k8s.aws/v1beta2",
    kind: "Mesh",
    plural: "meshes",
    namespaced: false,
    fields: { status: fields({ meshARN: Type.String() }) },
  },
  ({ apiVersion, kind, metadata: { name, clusterName }, status: { meshARN } = {} }) => ({
    apiVersion,
    kind,
    metadata: { name, ...(clusterName === undefined ? {} : { clusterName }) },
    ...(meshARN === undefined ? {} : { status: { meshARN } }),
  }),
);
export type AppMesh = ReturnType<typeof AppMesh.parse>;

/** On the sidecar of AWS App Mesh: `mesh/<mesh>/virtualNode/<node>`. Source: docs.aws.amazon.com/app-mesh, Envoy configuration variables. */
export const VIRTUAL_NODE_VARIABLE = "APPMESH_VIRTUAL_NODE_NAME";
