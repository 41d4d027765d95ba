import type { Mesh } from "@isthmus/api";
import { istioTranslator } from "./istio/istioTranslator.ts";
import type { MeshTranslator, MeshType } from "./meshTranslator.ts";
import { osmTranslator } from "./osm/osmTranslator.ts";

/** Every type of mesh that is configured. A new one is a line here. */
export const meshTranslators: readonly MeshTranslator[] = [istioTranslator, osmTranslator];

/** What messages call a mesh that is discovered and not configured. */
const DISCOVERED_ONLY: Readonly<Partial<Record<MeshType, string>>> = { awsAppMesh: "an AWS App Mesh" };

/** The translator of a mesh; undefined for a mesh that is discovered and not configured. */
export function translatorOf(mesh: Pick<Mesh, "spec"> | undefined): MeshTranslator | undefined {
  const spec = mesh?.spec;
  return spec && meshTranslators.find(({ type }) => spec[type] !== undefined);
}

/** What messages call a mesh, with the article. */
export function meshTypeName({ spec = {} }: Pick<Mesh, "spec">): string {
  const [, name = "a mesh of another type"] = Object.entries(DISCOVERED_ONLY).find(([type]) => Object.hasOwn(spec, type)) ?? [];
  return translatorOf({ spec })?.displayName ?? name;
}

/** What messages call the meshes that a VirtualMesh can join. */
export const joinableMeshes = meshTranslators
  .flatMap(({ displayName, federation }) => (federation === undefined ? [] : displayName))
  .join(" or ");
