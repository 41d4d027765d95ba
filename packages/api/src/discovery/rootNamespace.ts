import type { Mesh } from "./mesh.ts";

/** Where policies of Istio without a selector are about the whole mesh. Source: istio.io/docs/reference/config/istio.mesh.v1alpha1, rootNamespace. */
export function rootNamespaceOf({ spec }: Mesh): string {
  const { rootNamespace = "", installation } = spec?.istio ?? {};
  return rootNamespace || (installation?.namespace ?? "");
}
