import { type Deployment, Mesh, meshInstallationOf } from "@isthmus/api";
import type { Index, Snapshot } from "@isthmus/core";
import { LastKnownMesh } from "../../policy/lastKnownMesh.ts";
import { controlPlanesIn } from "../controlPlanes.ts";
import { meshDetectors } from "./index.ts";
import { REVISION_LABEL } from "./istioMesh.ts";
import { lastKnownMeshOf } from "./lastKnownMesh.ts";
import { standInFor } from "./standInPlane.ts";

/**
 * What an agent needs to know of a control plane of its cluster, so that it continues to report what discovery looks at while that control plane is
 * gone (docs/decisions/0175).
 */
export interface KnownPlane {
  /** The name of its Mesh. */
  readonly mesh: string;
  /** Where the control plane was. */
  readonly namespace: string;
  /** Of istiod; "" for the default. */
  readonly revision: string;
  readonly type: "ISTIO" | "OSM";
}

/** The control planes of a cluster by the Meshes that are published in the namespace of the management plane. */
export function knownPlanesOf(
  management: Snapshot,
  { namespace, clusterName }: { readonly namespace: string; readonly clusterName: string },
) {
  return management
    .of(Mesh)
    .where(byHome, clusterName)
    .flatMap((mesh): readonly KnownPlane[] => {
      const known = mesh.metadata.namespace === namespace ? lastKnownMeshOf(mesh) : undefined;
      if (known === undefined || known.home === "") return [];
      const revision = meshInstallationOf(mesh)?.podLabels?.[REVISION_LABEL] ?? "";
      return [{ mesh: known.metadata.name, namespace: known.home, revision, type: mesh.spec?.osm === undefined ? "ISTIO" : "OSM" }];
    });
}

const byHome: Index<Mesh> = (mesh) => {
  const cluster = lastKnownMeshOf(mesh)?.cluster ?? "";
  return cluster === "" ? [] : [cluster];
};

// More meshes than a cluster has.
const MOST_PLANES = 100;

/** The same as an input of discovery in a cluster. What is no list of them says nothing. */
export function lastKnownMeshesOf(told: unknown, clusterName: string): readonly LastKnownMesh[] {
  if (!Array.isArray(told)) return [];
  return told.slice(0, MOST_PLANES).flatMap((one: unknown): readonly LastKnownMesh[] => {
    if (typeof one !== "object" || one === null) return [];
    const { mesh, namespace, revision, type } = one as Readonly<Record<string, unknown>>;
    if (typeof mesh !== "string" || typeof namespace !== "string" || typeof revision !== "string") return [];
    const installation = { podLabels: revision === "" ? {} : { [REVISION_LABEL]: revision } };
    return [
      {
        apiVersion: LastKnownMesh.apiVersion,
        kind: LastKnownMesh.kind,
        metadata: { name: mesh, namespace: "" },
        cluster: clusterName,
        home: namespace,
        ciliumNamespace: "",
        gateways: [],
        trustDomain: "",
        trustDomainAliases: [],
        rootNamespace: "",
        smartDnsProxyingEnabled: false,
        autoMtlsDisabled: false,
        privateByDefault: [],
        spec: type === "OSM" ? { osm: { installation } } : { istio: { installation } },
      },
    ];
  });
}

/** The control planes of a cluster that are there, and, for those that are known and gone, what stands for them. */
export function knownPlanesIn(snapshot: Snapshot, clusterName: string): readonly Deployment[] {
  const there = controlPlanesIn(snapshot, clusterName);
  const known = snapshot.of(LastKnownMesh).where(byCluster, clusterName);
  const gone = known.flatMap((mesh) => standInFor(mesh) ?? []).filter((standIn) => !there.some((plane) => isRevisionOf(plane, standIn)));
  return [...there, ...gone];
}

const byCluster: Index<LastKnownMesh> = ({ cluster }) => [cluster];

/** Whether two are control planes of one mesh: of one type, in one namespace. */
export function isRevisionOf(one: Deployment, other: Deployment): boolean {
  const typeOf = (plane: Deployment) => meshDetectors.find((detector) => detector.isControlPlane(plane));
  return one.metadata.namespace === other.metadata.namespace && typeOf(one) === typeOf(other);
}
