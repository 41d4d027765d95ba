import {
  AccessPolicy,
  type CiliumInstallation,
  type Deployment,
  KubernetesCluster,
  type MeshSpec,
  Namespace,
  VirtualMesh,
} from "@isthmus/api";
import { displayName, keyOfResource, type Report, type ResourceRef, type Snapshot, type Table } from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { type Group, groupedBy } from "../incremental/groupedBy.ts";
import { inputKind, inputTable, type JoinSource, join } from "../incremental/join.ts";
import { reuseIfEqual } from "../incremental/rows.ts";
import { INFRASTRUCTURE_NAMESPACES } from "../policy/infrastructure.ts";
import { LastKnownMesh } from "../policy/lastKnownMesh.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { controlPlanesByCluster } from "./controlPlanes.ts";
import { isRevisionOf } from "./detectors/knownPlanes.ts";
import { heldOf, standInFor, systemNamespacesOf } from "./detectors/standInPlane.ts";
import { keyAcrossKinds } from "./discoveryResult.ts";
import { finding } from "./findings.ts";
import { byCluster } from "./indexes.ts";
import type { DiscoveryOptions } from "./metadata.ts";
import { virtualMeshesByMember } from "./standIns.ts";

/** What the table of control planes is made of beside Deployments. */
interface HeldSources {
  readonly inputs: Snapshot;
  /** Those that are there, and those that were held before. */
  readonly controlPlanes: Table<Deployment>;
  readonly context: { readonly options: DiscoveryOptions };
}

const rememberedBy = groupedBy<LastKnownMesh>((known) => {
  const standIn = standInFor(known);
  return standIn === undefined ? [] : [keyAcrossKinds(standIn)];
});
const remembered = inputTable(
  ({ inputs }: HeldSources) => rememberedBy(inputs.of(LastKnownMesh)),
  ({ key }) => key,
);
type Remembered = Group<LastKnownMesh>;

/** The control planes that are gone and on which policies rely, under keys of their own. */
export const heldControlPlanes = derived({
  from: remembered,
  context: ({ context }: HeldSources) => context.options.namespace,
  joins: {
    there: join({
      from: remembered,
      key: clusterOf,
      to: inputTable(({ controlPlanes }: HeldSources) => controlPlanes, keyAcrossKinds),
      index: controlPlanesByCluster,
    }),
    namespaces: join({
      from: remembered,
      key: clusterOf,
      to: inputKind<HeldSources, Namespace>(Namespace),
      index: byCluster,
      isSame: () => true,
    }),
    registrations: join({
      from: remembered,
      key: clusterOf,
      to: inputKind<HeldSources, KubernetesCluster>(KubernetesCluster),
      index: ({ metadata }) => [metadata.name],
    }),
    virtualMeshes: join({
      from: remembered,
      key: ({ rows }: Remembered) => rows.map(keyOfResource),
      to: inputKind<HeldSources, VirtualMesh>(VirtualMesh),
      index: virtualMeshesByMember,
      isSame: () => true,
    }),
    accessPolicies: accessPoliciesAbout(remembered, clusterOf),
  },
  make: ({ rows }: Remembered, { lookup, context: namespace, before }): Deployment | undefined => {
    const known = rows.find(({ metadata }) => metadata.namespace === namespace && (metadata.clusterName ?? "") === "");
    const standIn = known && standInFor(known);
    if (known === undefined || standIn === undefined) return undefined;
    const registration = lookup("registrations").find(
      ({ metadata }) => metadata.namespace === namespace && (metadata.clusterName ?? "") === "",
    );
    // What was never read of a cluster is unknown; what is no longer registered is nobody's.
    if (registration === undefined || lookup("namespaces").length === 0) return undefined;
    if (isConfirmedGone(registration, standIn.metadata)) return undefined;
    const isNamed = lookup("virtualMeshes").length > 0;
    // Where a tenant may have had one, each that comes and goes would otherwise stay for ever.
    const isRuled = lookup("accessPolicies").length > 0 && wasInfrastructure(known, standIn.metadata.namespace ?? "", registration);
    if (!isNamed && !isRuled) return undefined;
    // Another revision, to which workloads move when one is removed; or itself.
    const isThere = lookup("there").some((plane) => heldOf(plane) === undefined && isRevisionOf(plane, standIn));
    return isThere ? undefined : reuseIfEqual<Deployment | undefined>(standInFor(known, isNamed), before);
  },
});

/** Whether something that no tenant writes says, or said while the mesh was there, that a namespace of its cluster holds infrastructure. */
function wasInfrastructure(known: LastKnownMesh, namespace: string, registration: KubernetesCluster): boolean {
  const namespaces = [...systemNamespacesOf(known), ...(registration.spec?.systemNamespaces ?? [])];
  return INFRASTRUCTURE_NAMESPACES.has(namespace) || namespaces.includes(namespace);
}

function clusterOf({ rows }: Remembered): readonly string[] {
  return rows.map(({ cluster }) => cluster);
}

/** Finds something where there are AccessPolicies of the management cluster, or of the clusters of a row. That one of many comes or goes changes nothing. */
export function accessPoliciesAbout<S extends { readonly inputs: Snapshot }, R extends object>(
  from: JoinSource<S, R, R>,
  clustersOf: (row: R) => readonly string[],
) {
  return join({
    from,
    key: (row: R) => ["", ...clustersOf(row)],
    to: inputTable(
      ({ inputs }: S) => accessPoliciesByCluster(inputs.of(AccessPolicy)),
      ({ key }) => key,
    ),
    isSame: () => true,
  });
}

const accessPoliciesByCluster = groupedBy<AccessPolicy>(({ metadata }) => [metadata.clusterName ?? ""]);

/** Whether the management cluster says that what is gone was removed on purpose. */
function isConfirmedGone(
  registration: KubernetesCluster,
  { name, namespace = "" }: { readonly name: string; readonly namespace?: string },
): boolean {
  return registration.spec?.removed?.includes(`${namespace}/${name}`) === true;
}

/** The name under which Cilium is confirmed to be gone: its DaemonSet's in every installation. */
const CILIUM = "cilium";

/** Cilium as it was last known in a cluster where it is gone; undefined where it is confirmed to be. */
export function heldCilium(known: readonly LastKnownMesh[], registration: KubernetesCluster | undefined): CiliumInstallation | undefined {
  const mesh = known.find(({ spec }) => spec?.cilium !== undefined);
  const cilium = mesh?.spec?.cilium;
  if (mesh === undefined || cilium === undefined || registration === undefined) return undefined;
  if (!wasInfrastructure(mesh, cilium.namespace ?? "", registration)) return undefined;
  return isConfirmedGone(registration, { name: CILIUM, namespace: cilium.namespace ?? "" }) ? undefined : cilium;
}

/** What was known of the mesh of a control plane that is gone, with the reason why it still counts; undefined of one that is there. */
export function heldMesh(deployment: Deployment): HeldMesh | undefined {
  const known = heldOf(deployment);
  if (known === undefined) return undefined;
  const { name } = deployment.metadata;
  const { namespace, clusterName } = namespaceLocationOf(deployment);
  const source: ResourceRef = { apiVersion: "apps/v1", kind: "Deployment", name, namespace, clusterName };
  const message = goneMessage(`control plane ${displayName({ name, namespace })}`, source);
  return { spec: { ...known.spec, held: { reason: message } }, source, reports: [finding(source, "WARNING", "ControlPlaneGone", message)] };
}

interface HeldMesh {
  readonly spec: MeshSpec;
  /** The Deployment that was there. */
  readonly source: ResourceRef;
  readonly reports: readonly Report[];
}

/** The same of Cilium. */
export function ciliumGone({ namespace = "" }: CiliumInstallation, clusterName: string): Report {
  const subject: ResourceRef = { apiVersion: "apps/v1", kind: "DaemonSet", name: CILIUM, namespace, clusterName };
  return finding(subject, "WARNING", "CiliumGone", goneMessage(`Cilium ${displayName({ name: CILIUM, namespace })}`, subject));
}

function goneMessage(what: string, { name, namespace = "", clusterName }: ResourceRef): string {
  return `${what} of ${clusterName} is not found any more, and policies rely on it: what is written for it stays as it is. If it was removed on purpose: meshctl cluster confirm-removed ${clusterName} ${namespace}/${name}`;
}
