import { type CiliumInstallation, Mesh, meshClusters } from "@isthmus/api";
import type { JsonObject } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";

/** Cilium in each cluster that has it beside a mesh. */
export function ciliumOfClusters(translation: Translation | undefined): ReadonlyMap<string, CiliumInstallation> {
  return new Map(
    [...(translation?.attached.of(Mesh) ?? [])].flatMap((mesh) => {
      const cilium = mesh.spec?.cilium;
      return cilium === undefined ? [] : meshClusters(mesh).map((clusterName) => [clusterName, cilium] as const);
    }),
  );
}

/** What the status of a cluster says of Cilium in it; of a cluster that is not known what it said `before`. */
export function ciliumField(
  cilium: CiliumInstallation | undefined,
  { isKnown, before }: { readonly isKnown: boolean; readonly before: JsonObject },
): JsonObject {
  if (!isKnown) return before["cilium"] === undefined ? {} : { cilium: before["cilium"] };
  if (cilium === undefined) return {};
  const { version = "", clusterName = "", enforcement = "", l7Proxy = false, clusterMesh = false } = cilium;
  return { cilium: { version, clusterName, enforcement, l7Proxy, clusterMesh } };
}
