import { Mesh, type MeshInstallation } from "./mesh.ts";

// The one place where the types of meshes are gone through. Members that the schema does not know hold anything.
const MESH_TYPES = Object.keys(Mesh.definition.fields.spec.properties) as readonly (keyof NonNullable<Mesh["spec"]>)[];

/** Where the control plane of a mesh runs; undefined when it runs in no cluster. */
export function meshInstallationOf({ spec = {} }: Pick<Mesh, "spec">): MeshInstallation | undefined {
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

/**
 * Whether two meshes are revisions of one control plane, between which workloads move during a canary upgrade: those of one type and namespace share
 * its root, its gateways and the objects for it. With another trust domain, identities are others, and so is the mesh.
 * Source: istio.io/docs/setup/upgrade/canary.
 */
export function areRevisions(one: Mesh, other: Mesh): boolean {
  const [place, otherPlace] = [meshInstallationOf(one), meshInstallationOf(other)];
  if (place?.namespace === undefined || place.namespace !== otherPlace?.namespace || place.cluster !== otherPlace.cluster) return false;
  if (one.metadata.name === other.metadata.name) return false;
  return MESH_TYPES.some((type) => {
    const [left, right] = [one.spec?.[type], other.spec?.[type]];
    if (left === undefined || right === undefined || !("installation" in left && "installation" in right)) return false;
    return trustDomainIn(left) === trustDomainIn(right);
  });
}

function trustDomainIn(ofType: object): string {
  return "trustDomain" in ofType ? String(ofType.trustDomain) : "";
}
