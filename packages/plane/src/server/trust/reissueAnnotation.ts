/** On a VirtualMesh, for one of its meshes: another value has the mesh's CA issued again. */
export function reissueAnnotation(meshName: string): string {
  return `reissue.isthmus.mesh/${meshName}`;
}
