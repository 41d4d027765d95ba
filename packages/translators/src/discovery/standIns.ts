import { areRevisions, type Mesh, VirtualMesh } from "@isthmus/api";
import { equalJson, keyOf, keyOfResource } from "@isthmus/core";
import { inputKind, type JoinSource, join } from "../incremental/join.ts";
import { virtualMeshForms } from "../policy/forms/virtualMeshForms.ts";
import type { DiscoverySources } from "./sources.ts";

const NONE: readonly never[] = [];

/** The mesh under which what is in a mesh is discovered. */
export type StandIn = (mesh: Mesh) => Mesh;

/** The VirtualMeshes that name meshes, for rows that look these up. */
export function virtualMeshesNaming<R extends object>(from: JoinSource<DiscoverySources, R, Mesh>) {
  return join({
    from,
    to: inputKind<DiscoverySources, VirtualMesh>(VirtualMesh),
    index: virtualMeshesByMember,
    select: virtualMeshesByMember,
    isSame: equalJson,
  });
}

/** VirtualMeshes by the meshes that they name. One of a workload cluster is the word of its agent, which says nothing of the workloads of others. */
export function virtualMeshesByMember(virtualMesh: VirtualMesh): readonly string[] {
  if ((virtualMesh.metadata.clusterName ?? "") !== "") return NONE;
  // While that is known it may be what stays in force.
  const { written, last = written } = virtualMeshForms(virtualMesh);
  return (last.spec?.meshes ?? []).map(({ name = "", namespace = "" }) => keyOf({ name, namespace, clusterName: "" }));
}

/**
 * During a canary upgrade of istiod workloads move to a revision that no VirtualMesh names yet: until one does, they are discovered under the
 * revision that one names, and so stay federated (docs/decisions/0146). `named`: the keys of the meshes that VirtualMeshes name; asked only where
 * there are revisions.
 */
export function standInAmong(meshes: readonly Mesh[], named: () => readonly (readonly string[])[]): StandIn {
  return (mesh) => {
    const others = meshes.filter((one) => areRevisions(one, mesh));
    if (others.length === 0) return mesh;
    const keys = new Set(named().flat());
    if (keys.has(keyOfResource(mesh))) return mesh;
    return others.find((one) => keys.has(keyOfResource(one))) ?? mesh;
  };
}
