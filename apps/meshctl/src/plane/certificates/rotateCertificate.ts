import type { VirtualMesh } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { reissueAnnotation } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";
import { generationOfRoot, ROOT_GENERATION, rootGenerationOf } from "@isthmus/translators";
import { PREVIOUS_GENERATION } from "./abortRotation.ts";
import { changeVirtualMesh } from "./changeVirtualMesh.ts";
import type { Entry } from "./entries.ts";
import { withoutLeaving } from "./leaveWorkloads.ts";

/** Orders another CA, or another generated root, by an annotation of the VirtualMesh. Gives what was ordered, for users. Throws UsageError. */
export async function rotateCertificate(
  cluster: Cluster,
  entry: Entry,
  { entries, now }: { readonly entries: readonly Entry[]; readonly now: number },
  signal: AbortSignal,
): Promise<string> {
  const change = (found: VirtualMesh) => {
    const { annotations = {} } = found.metadata;
    const [key, value] =
      entry.use === "meshRoot"
        ? [ROOT_GENERATION, nextGeneration(found, entries)]
        : [reissueAnnotation(entry.name), new Date(now).toISOString()];
    // So that it can be aborted.
    const noted = entry.use === "meshRoot" ? { [PREVIOUS_GENERATION]: `${rootGenerationOf(found) ?? 1}, before ${value}` } : {};
    const kept = entry.use === "meshRoot" ? withoutLeaving(annotations) : annotations;
    const metadata = { ...found.metadata, annotations: { ...kept, ...noted, [key]: value } };
    return { next: { ...found, metadata }, ordered: `${key} is ${value}` };
  };
  return changeVirtualMesh(cluster, rotatable(entry, entries), change, signal);
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
      `${what}: the change of root before is not finished, ${moving.name} is at step ${moving.forecast?.step}: --plan shows what it waits for, --abort goes back`,
    );
  }
  return virtualMesh;
}

/** A number that no root has had: one of before may be known to others. */
function nextGeneration(virtualMesh: VirtualMesh, entries: readonly Entry[]): string {
  const used = entries.filter(({ use }) => use === "meshRoot").map(({ name }) => generationOfRoot(virtualMesh, name) ?? 0);
  return String(Math.max(1, ...used) + 1);
}
