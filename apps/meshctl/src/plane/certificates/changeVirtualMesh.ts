import { VirtualMesh } from "@isthmus/api";
import { displayName, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";

/** Changes a VirtualMesh, `namespace/name`, once more where somebody else was faster. Gives what was ordered, for users. Throws UsageError. */
export async function changeVirtualMesh(
  cluster: Cluster,
  virtualMesh: string,
  change: (found: VirtualMesh) => { readonly next: VirtualMesh; readonly ordered: string },
  signal: AbortSignal,
): Promise<string> {
  const [namespace = "", name = ""] = virtualMesh.split("/");
  for (let attempt = 1; ; attempt++) {
    const found = await cluster.get(VirtualMesh, { name, namespace }, signal);
    if (found === undefined) throw new UsageError(`VirtualMesh ${namespace}/${name} not found`);
    const { next, ordered } = change(found);
    const { managedFields: _, ...metadata } = next.metadata;
    try {
      await cluster.update({ ...next, metadata }, signal);
      return `VirtualMesh ${displayName(found.metadata)}: ${ordered}`;
    } catch (error) {
      // The server writes statuses there, too.
      if (!(error instanceof ClusterError && error.code === "Conflict") || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

const MOST_ATTEMPTS = 10;
