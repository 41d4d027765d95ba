import type { MeshSpec } from "@isthmus/api";
import type { Kind, ObjectRef, Resource } from "@isthmus/core";

/**
 * What was last known of the mesh of a control plane, as it is published: for when its mesh config names no usable trust domain any more, can't be
 * read at all, or when the control plane or Cilium is not there any more. An input of discovery (docs/decisions/0037) that exists in snapshots alone, under the name of its Mesh.
 */
export interface LastKnownMesh extends Resource {
  readonly cluster: string;
  /** The namespace of the control plane. */
  readonly home: string;
  /** The namespace of Cilium in its cluster; "" without it. */
  readonly ciliumNamespace: string;
  /** The Destinations that were its gateways for other clusters, as the Mesh named them. */
  readonly gateways: readonly ObjectRef[];
  readonly trustDomain: string;
  readonly trustDomainAliases: readonly string[];
  /** "" for the namespace of the control plane. */
  readonly rootNamespace: string;
  readonly smartDnsProxyingEnabled: boolean;
  readonly autoMtlsDisabled: boolean;
  readonly privateByDefault: readonly string[];
  /** All of it, as it is published; absent where a test of one field remembers nothing else. */
  readonly spec?: MeshSpec;
  /** Those of the Mesh. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** No API server serves it, and no agent may send it. */
export const LastKnownMesh: Kind<LastKnownMesh> = {
  apiVersion: "memory.mesh.gloo.solo.io/v1",
  kind: "MeshMemory",
  plural: "meshmemories",
  namespaced: true,
  versions: ["memory.mesh.gloo.solo.io/v1"],
  parse: (input) => input as LastKnownMesh,
};
