import type { Destination, Mesh } from "@isthmus/api";
import { intern, keyOf, keyOfResource } from "@isthmus/core";
import type { DestinationInputs } from "../inputs.ts";

/** Where requests to a Destination start: its own mesh, or one that it is federated to. */
export interface Source {
  readonly clusterName: string;
  /** Key of the mesh. */
  readonly meshKey: string;
  /** Set for a mesh that the Destination is federated to: its objects go into that mesh's control plane namespace. */
  readonly remoteMesh?: Mesh;
}

/** The Destination's own mesh. */
export function localSource(destination: Destination): Source {
  const { kubeService, mesh } = destination.spec ?? {};
  return { clusterName: kubeService?.ref?.clusterName ?? "", meshKey: keyOf({ name: "", namespace: "", ...mesh, clusterName: "" }) };
}

/** An Istio mesh that a Destination is federated to. */
export function remoteSource(mesh: Mesh): Source {
  return { clusterName: mesh.spec?.istio?.installation?.cluster ?? "", meshKey: keyOfResource(mesh), remoteMesh: mesh };
}

/** Every source of requests to a Destination, its own mesh first. */
export function sourcesOf({ destination, federatedTo }: Pick<DestinationInputs, "destination" | "federatedTo">): readonly Source[] {
  return [localSource(destination), ...federatedTo.map(remoteSource)];
}

/** Name, namespace and cluster of the VirtualService and DestinationRule of a Destination for one source. */
export function objectNameFor(destination: Destination, source: Source): { name: string; namespace: string; clusterName: string } {
  const { name = "", namespace = "", clusterName = "" } = destination.spec?.kubeService?.ref ?? {};
  if (source.remoteMesh === undefined) return { name, namespace, clusterName };
  return {
    name: intern([name, namespace, clusterName].join("-")),
    namespace: source.remoteMesh.spec?.istio?.installation?.namespace ?? "istio-system",
    clusterName: source.clusterName,
  };
}
