import type { VirtualMesh } from "@isthmus/api";
import { displayName, UsageError } from "@isthmus/core";
import { PREVIOUS_ROOTS } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";
import { ROOT_GENERATION, rootGenerationOf } from "@isthmus/translators";
import { changeVirtualMesh } from "./changeVirtualMesh.ts";
import type { Entry } from "./entries.ts";
import { withoutLeaving } from "./leaveWorkloads.ts";

/** On a VirtualMesh: `N, before M`, where a rotation replaced generated root N by M. */
export const PREVIOUS_GENERATION = "isthmus.mesh/previous-root-generation";

/** Names the root before again, as long as every mesh still trusts it. Gives what was ordered, for users. Throws UsageError. */
export async function abortRotation(cluster: Cluster, entry: Entry, entries: readonly Entry[], signal: AbortSignal): Promise<string> {
  const name = abortable(entry, entries);
  const change = entry.isGenerated === true ? generationBefore : secretBefore;
  return changeVirtualMesh(cluster, name, change, signal);
}

/** The VirtualMesh, `namespace/name`. Before RETIRE nothing of the root before is lost; afterwards the way back is a rotation like any other. */
function abortable({ use, name, virtualMesh }: Entry, entries: readonly Entry[]): string {
  const what = `${use}/${name}`;
  if (use !== "meshRoot") throw new UsageError(`${what} is no root: only the change of a root can be aborted`);
  if (virtualMesh === undefined) throw new UsageError(`${what} is used by no VirtualMesh: there is nothing to abort`);
  if (virtualMesh.includes(" ")) throw new UsageError(`${what}: VirtualMesh ${virtualMesh} is changed there, in its own cluster`);
  const meshes = entries.filter((one) => one.use === "meshIntermediate" && one.virtualMesh === virtualMesh);
  const steps = meshes.flatMap((one) => (one.forecast?.step === undefined ? [] : [{ mesh: one.name, step: one.forecast.step }]));
  if (steps.every(({ step }) => step === "KEEP")) throw new UsageError(`${what}: no change of root is running: there is nothing to abort`);
  const retired = steps.find(({ step }) => step === "RETIRE" || step === "KEEP");
  if (retired !== undefined) {
    throw new UsageError(
      `${what}: cannot be aborted any more: ${retired.mesh} is at step ${retired.step} and ceases to trust the root before: let the change finish, ` +
        "and rotate once more if another root is needed",
    );
  }
  return virtualMesh;
}

function generationBefore(found: VirtualMesh): { readonly next: VirtualMesh; readonly ordered: string } {
  const { annotations = {} } = found.metadata;
  const [, before, after] = /^(\d+), before (\d+)$/.exec(annotations[PREVIOUS_GENERATION] ?? "") ?? [];
  if (before === undefined || after !== String(rootGenerationOf(found))) {
    throw new UsageError(
      `VirtualMesh ${displayName(found.metadata)}: its root was not changed by meshctl, so the one before is not noted: set annotation ${ROOT_GENERATION} to the ` +
        "number that it had (1 for the first root), or name the Secret that it had",
    );
  }
  const { [PREVIOUS_GENERATION]: _, ...others } = annotations;
  const metadata = { ...found.metadata, annotations: { ...withoutLeaving(others), [ROOT_GENERATION]: before } };
  return { next: { ...found, metadata }, ordered: `${ROOT_GENERATION} is ${before} again` };
}

function secretBefore(found: VirtualMesh): { readonly next: VirtualMesh; readonly ordered: string } {
  const { annotations = {} } = found.metadata;
  const { shared } = found.spec?.mtlsConfig ?? {};
  const { name: now = "", namespace: place = "" } = shared?.rootCertificateAuthority?.secret ?? {};
  const named = (annotations[PREVIOUS_ROOTS] ?? "").split(",").map((one) => one.trim());
  const [before = "", ...more] = named.filter((one) => one !== "" && one !== `${place}/${now}`);
  const [namespace = "", name = "", ...rest] = before.split("/");
  if (more.length > 0 || rest.length > 0 || namespace === "" || name === "") {
    throw new UsageError(
      `VirtualMesh ${displayName(found.metadata)}: annotation ${PREVIOUS_ROOTS} names no single Secret as the root before: name the root that it had in ` +
        "spec.mtlsConfig.shared.rootCertificateAuthority",
    );
  }
  const mtlsConfig = { ...found.spec?.mtlsConfig, shared: { ...shared, rootCertificateAuthority: { secret: { name, namespace } } } };
  // While others are waited for, CAs below the root that was to come are renewed as well.
  const metadata = { ...found.metadata, annotations: { ...withoutLeaving(annotations), [PREVIOUS_ROOTS]: `${place}/${now}` } };
  return { next: { ...found, metadata, spec: { ...found.spec, mtlsConfig } }, ordered: `its root is in Secret ${before} again` };
}
