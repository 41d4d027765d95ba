import { formatRef, type Owner, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { Rejection } from "@isthmus/ports";
import { differingFields } from "./differingFields.ts";
import { alreadyApplied, bearsLabelOf, otherManagersOf } from "./ownership.ts";

/** What would become of a desired object if it might be written; undefined: it is there as desired. */
export async function pendingPut(
  desired: Resource,
  {
    live,
    owners,
    read,
  }: { readonly live: Resource | undefined; readonly owners: readonly Owner[]; readonly read: () => Promise<Resource | undefined> },
): Promise<Rejection | undefined> {
  const ref = refOf(desired);
  if (live === undefined) return { ref, code: "WouldCreate", message: `${formatRef(ref)}: would be created` };
  if (bearsLabelOf(live, owners)) {
    if (alreadyApplied(live, desired)) return undefined;
    const fields = differingFields(live, desired, MOST_FIELDS).join(", ");
    return { ref, code: "WouldChange", message: `${formatRef(ref)}: would be changed: ${fields}` };
  }
  // Who wrote it, only the API server says.
  const others = otherManagersOf((await read()) ?? live);
  const by = others.length === 0 ? "others" : others.slice(0, MOST_MANAGERS).join(", ");
  const fields = differingFields(live, desired, MOST_FIELDS).filter((path) => !path.startsWith("metadata."));
  const comparison = fields.length === 0 ? "with the same content" : `and differs: ${fields.join(", ")}`;
  return {
    ref,
    code: "WouldConflict",
    message: `${formatRef(ref)}: exists, managed by ${by}, ${comparison}; it would not be changed: delete or rename it, or add our owner label`,
  };
}

/** What would become of an object that is to be deleted. */
export function pendingDelete(ref: ResourceRef, reason: string): Rejection {
  return { ref, code: "WouldDelete", message: `${formatRef(ref)}: would be deleted: ${reason}` };
}

// As many as a person reads of one object.
const MOST_FIELDS = 10;
const MOST_MANAGERS = 5;
