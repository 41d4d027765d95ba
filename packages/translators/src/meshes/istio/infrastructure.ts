import { type Mesh, rootNamespaceOf } from "@isthmus/api";
import { INFRASTRUCTURE_NAMESPACES } from "../../policy/infrastructure.ts";

/** Whether no tenant of a mesh runs pods in a namespace of its cluster. */
export function isInfrastructureOf(mesh: Mesh, namespace: string): boolean {
  const { installation, systemNamespaces = [] } = mesh.spec?.istio ?? {};
  return (
    namespace === rootNamespaceOf(mesh) ||
    namespace === installation?.namespace ||
    INFRASTRUCTURE_NAMESPACES.has(namespace) ||
    systemNamespaces.includes(namespace)
  );
}

/** Whether what is outside those namespaces does not count: where nothing vouches for anything, it does, as it did before anything could. */
export function isInfrastructureKnown(mesh: Mesh): boolean {
  return mesh.spec?.istio?.systemNamespaces !== undefined;
}
