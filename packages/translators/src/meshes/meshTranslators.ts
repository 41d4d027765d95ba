import type { Mesh } from "@isthmus/api";
import { istioTranslator } from "./istio/istioTranslator.ts";
import type { MeshTranslator } from "./meshTranslator.ts";
import { osmTranslator } from "./osm/osmTranslator.ts";

/** Every type of mesh that is configured. A new one is a line here. */
export const meshTranslators: readonly MeshTranslator[] = [istioTranslator, osmTranslator];

/** The translator of a mesh; undefined for a mesh that is discovered and not configured. */
export function translatorOf(mesh: Pick<Mesh, "spec"> | undefined): MeshTranslator | undefined {
  const spec = mesh?.spec;
  return spec && meshTranslators.find(({ type }) => spec[type] !== undefined);
}
