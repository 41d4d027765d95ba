import type { VirtualMesh } from "@isthmus/api";
import { userNameOf } from "./userResources.ts";

/** On a VirtualMesh: which of its generated roots is in use, a number from 1. Another number generates another root, and moves the meshes there. */
export const ROOT_GENERATION = "isthmus.mesh/root-generation";

/** The number of the generated root that is in use, 1 where none is given; undefined where what is given is no such number. */
export function rootGenerationOf({ metadata }: VirtualMesh): number | undefined {
  const text = metadata.annotations?.[ROOT_GENERATION];
  if (text === undefined) return 1;
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= LAST_GENERATION && String(number) === text ? number : undefined;
}

/** Name of the Secret with the generated root that is in use. Source of the first one's: specification of the published product, "Generated root". */
export function generatedRootName(virtualMesh: VirtualMesh): string {
  return nameOfGeneration(virtualMesh, rootGenerationOf(virtualMesh) ?? 1);
}

/** The number of a generated root of a VirtualMesh by the name of its Secret; undefined for any other Secret. */
export function generationOfRoot(virtualMesh: VirtualMesh, secretName: string): number | undefined {
  const prefix = `${userNameOf(virtualMesh.metadata)}${SUFFIX}`;
  const number = secretName.startsWith(prefix) ? Number(secretName.slice(prefix.length)) : 1;
  return nameOfGeneration(virtualMesh, number) === secretName ? number : undefined;
}

function nameOfGeneration({ metadata }: VirtualMesh, number: number): string {
  return number === 1 ? userNameOf(metadata) : `${userNameOf(metadata)}${SUFFIX}${number}`;
}

const SUFFIX = ".root-";
const LAST_GENERATION = 999_999;
