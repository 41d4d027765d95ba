import type { VirtualMesh } from "@isthmus/api";
import { keyOf, type ResourceRef } from "@isthmus/core";
import { acceptedByKey } from "../attachment/federation/virtualMeshes.ts";
import type { Translation } from "./translate.ts";

/** A VirtualMesh as it is in force: its last accepted spec may stand for the present one. Undefined: not at all. */
export function inForceOf({ cache }: Translation, ref: ResourceRef): VirtualMesh | undefined {
  return acceptedByKey(cache.attachment.membership).get(keyOf(ref));
}
