import type { Mesh } from "@isthmus/api";
import type { TargetState } from "./targetState.ts";

type IstioMesh = NonNullable<NonNullable<Mesh["spec"]>["istio"]>;

/** The meshes of Istio, each with where it is, for messages. */
export function istioMeshes(meshes: readonly Mesh[]): readonly { readonly istio: IstioMesh; readonly place: string }[] {
  return meshes.flatMap(({ spec }) =>
    spec?.istio === undefined ? [] : [{ istio: spec.istio, place: `namespace ${spec.istio.installation?.namespace}` }],
  );
}

/** Whether a cluster has a mesh of Istio. */
export function hasIstio({ discovered }: TargetState): boolean {
  return istioMeshes(discovered.meshes).length > 0;
}
