import { Secret, type VirtualMesh } from "@isthmus/api";
import type { ObjectRef, Snapshot } from "@isthmus/core";
import { generationOfRoot } from "@isthmus/translators";

/** On a VirtualMesh: the Secrets of earlier roots of the user's own, `namespace/name` separated by commas. Below them CAs are still renewed. */
export const PREVIOUS_ROOTS = "isthmus.mesh/previous-roots";

/**
 * The Secrets with earlier roots of a VirtualMesh, which may still renew CAs below them while others are waited for: those that were generated for it, and
 * those that its user names. Never one that an agent names: it could have any root of the plane sign for it.
 */
export function earlierRoots(virtualMesh: VirtualMesh, namespace: string, management: Snapshot): readonly ObjectRef[] {
  const generated = [...management.of(Secret)]
    .filter(({ metadata, type }) => metadata.namespace === namespace && type === GENERATED_ROOT_TYPE)
    .filter(({ metadata }) => generationOfRoot(virtualMesh, metadata.name) !== undefined)
    .map(({ metadata: { name } }) => ({ name, namespace }));
  return [...generated, ...namedRoots(virtualMesh)];
}

function namedRoots({ metadata }: VirtualMesh): readonly ObjectRef[] {
  // Of a VirtualMesh in a workload cluster this would be the word of its agent.
  const text = (metadata.clusterName ?? "") === "" ? (metadata.annotations?.[PREVIOUS_ROOTS] ?? "") : "";
  return text
    .split(",", MOST_NAMED)
    .map((one) => one.trim().split("/"))
    .filter(([namespace = "", name = "", ...rest]) => namespace !== "" && name !== "" && rest.length === 0)
    .map(([namespace = "", name = ""]) => ({ name, namespace }));
}

/** Source: specification of the published product, "Generated root". */
export const GENERATED_ROOT_TYPE = "certificates.mesh.gloo.solo.io/generated_signing_cert";
const MOST_NAMED = 4;
