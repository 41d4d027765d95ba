import type { Mesh } from "@isthmus/api";
import type { IngressGatewayRef } from "../inputs.ts";

/** Where an object is seen from. */
export interface Visibility {
  readonly exportTo?: readonly string[];
}

/** The spec of an object for callers of all namespaces, which says so where the mesh's configuration would keep it in its own. */
export function forAllNamespaces<S extends object>(mesh: Mesh, { kind }: { readonly kind: string }, spec: S): S & Visibility {
  return mesh.spec?.istio?.privateByDefault?.includes(kind) ? { ...spec, exportTo: ["*"] } : spec;
}

/** For gateways alone, which run in the namespace of the control plane, where our objects for them are, or elsewhere, as Istio's own charts have it. */
export function forGateways({ spec }: Mesh, gateways: readonly IngressGatewayRef[]): readonly string[] {
  const { namespace: own = "" } = spec?.istio?.installation ?? {};
  const namespaces = gateways.map(({ destination }) => destination.spec?.kubeService?.ref?.namespace ?? own);
  return [".", ...[...new Set(namespaces)].filter((namespace) => namespace !== own).sort()];
}
