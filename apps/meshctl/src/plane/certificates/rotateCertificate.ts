import { VirtualMesh } from "@isthmus/api";
import { displayName, UsageError } from "@isthmus/core";
import { reissueAnnotation } from "@isthmus/plane";
import { type Cluster, ClusterError } from "@isthmus/plane/ports";
import { generationOfRoot, ROOT_GENERATION } from "@isthmus/translators";
import type { Entry } from "./entries.ts";

/** Orders another CA, or another generated root, by an annotation of the VirtualMesh. Gives what was ordered, for users. Throws UsageError. */
export async function rotateCertificate(
  cluster: Cluster,
  entry: Entry,
  { entries, now }: { readonly entries: readonly Entry[]; readonly now: number },
  signal: AbortSignal,
): Promise<string> {
  const [namespace = "", name = ""] = rotatable(entry, entries).split("/");
  for (let attempt = 1; ; attempt++) {
    const found = await cluster.get(VirtualMesh, { name, namespace }, signal);
    if (found === undefined) throw new UsageError(`VirtualMesh ${namespace}/${name} not found`);
    const { managedFields: _, annotations = {}, ...metadata } = found.metadata;
    const [key, value] =
      entry.use === "meshRoot"
        ? [ROOT_GENERATION, nextGeneration(found, entries)]
        : [reissueAnnotation(entry.name), new Date(now).toISOString()];
    try {
      await cluster.update({ ...found, metadata: { ...metadata, annotations: { ...annotations, [key]: value } } }, signal);
      return `VirtualMesh ${displayName(found.metadata)}: ${key} is ${value}`;
    } catch (error) {
      // The server writes statuses there, too.
      if (!(error instanceof ClusterError && error.code === "Conflict") || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

/** The VirtualMesh by which it is rotated, `namespace/name`. Throws UsageError with what to do instead. */
function rotatable({ use, name, virtualMesh, isGenerated, next }: Entry, entries: readonly Entry[]): string {
  const what = `${use}/${name}`;
  if (use !== "meshRoot" && use !== "meshIntermediate") throw new UsageError(`${what} is not rotated by this command: ${next}`);
  if (virtualMesh === undefined) throw new UsageError(`${what} is used by no VirtualMesh: there is nothing to rotate`);
  if (virtualMesh.includes(" ")) throw new UsageError(`${what}: VirtualMesh ${virtualMesh} is changed there, in its own cluster`);
  if (use === "meshIntermediate") return virtualMesh;
  if (isGenerated !== true)
    throw new UsageError(`${what} is your own: create a Secret with another root, and name it in VirtualMesh ${virtualMesh}`);
  const moving = entries.find(
    ({ forecast, ...one }) => one.virtualMesh === virtualMesh && forecast?.step !== undefined && forecast.step !== "KEEP",
  );
  if (moving !== undefined) {
    throw new UsageError(
      `${what}: the change of root before is not finished, ${moving.name} is at step ${moving.forecast?.step}: --plan shows what it waits for`,
    );
  }
  return virtualMesh;
}

/** A number that no root has had: one of before may be known to others. */
function nextGeneration(virtualMesh: VirtualMesh, entries: readonly Entry[]): string {
  const used = entries.filter(({ use }) => use === "meshRoot").map(({ name }) => generationOfRoot(virtualMesh, name) ?? 0);
  return String(Math.max(1, ...used) + 1);
}

const MOST_ATTEMPTS = 10;
