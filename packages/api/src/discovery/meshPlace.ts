import { Mesh, type MeshInstallation } from "./mesh.ts";

// The one place where the types of meshes are gone through. Members that the schema does not know hold anything.
const MESH_TYPES = Object.keys(Mesh.definition.fields.spec.properties) as readonly (keyof NonNullable<Mesh["spec"]>)[];

/** Where the control plane of a mesh runs; undefined when it runs in no cluster. */
export function meshInstallationOf({ spec = {} }: Mesh): MeshInstallation | undefined {
  for (const type of MESH_TYPES) {
    const mesh = spec[type];
    if (mesh !== undefined && "installation" in mesh) return mesh.installation;
  }
  return undefined;
}

/** The clusters of a mesh: that of its control plane, or those in which a mesh without one was found. */
export function meshClusters(mesh: Mesh): readonly string[] {
  const { spec = {} } = mesh;
  const cluster = meshInstallationOf(mesh)?.cluster;
  if (cluster !== undefined) return [cluster];
  for (const type of MESH_TYPES) {
    const member = spec[type];
    if (member !== undefined && "clusters" in member) return [...new Set(member.clusters)];
  }
  return [];
}
