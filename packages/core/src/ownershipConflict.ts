import { isOwnedBy, type Owner } from "./outputSet.ts";
import { formatRef } from "./ref.ts";
import { type Resource, refOf } from "./resource.ts";

/** Why an object of a cluster is not written over; `code` as API servers name it. */
export interface OwnershipConflict {
  readonly code: "Conflict";
  /** Names the object, and the remedy. */
  readonly message: string;
}

/** What an object that is there under the name of a desired one keeps from being written: it bears no label of `owners`. Undefined: nothing. */
export function ownershipConflict(
  existing: Resource,
  { desired, owners }: { readonly desired: Resource; readonly owners: readonly Owner[] },
): OwnershipConflict | undefined {
  if (owners.some((owner) => isOwnedBy(existing, owner))) return undefined;
  return {
    code: "Conflict",
    message: `${formatRef(refOf(desired))} exists and is not managed by us, so it is not changed: delete or rename it, or add our owner label to let us manage it`,
  };
}
