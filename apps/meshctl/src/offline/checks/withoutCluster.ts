import {
  Destination,
  hasUserStatus,
  KubernetesCluster,
  kindOf,
  Mesh,
  Service,
  TrafficPolicy,
  VirtualDestination,
  VirtualMesh,
  Workload,
} from "@isthmus/api";
import { displayName, type Report, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { fieldOf } from "../findings.ts";
import type { Note, RejectedObject } from "../intake.ts";
import type { KnownObjects } from "./knownObjects.ts";

/** What is judged of an input in which there is no cluster. */
export interface WithoutCluster {
  readonly evaluated: readonly Report[];
  /** What could only be true of a cluster, and is not said. */
  readonly left: readonly Report[];
  /** Says that something was left, and how it is judged. */
  readonly notes: readonly Note[];
}

/**
 * Whether the input says anything of a cluster. A Service without `metadata.clusterName` says nothing: it is one that users write beside their
 * policies, and nothing is discovered from it.
 */
export function hasCluster(resources: readonly Resource[], rejected: readonly RejectedObject[], agentCluster: string | undefined): boolean {
  const refs = [...resources.map(refOf), ...rejected.flatMap(({ ref }) => ref ?? [])];
  return refs.some(
    ({ kind, clusterName }) => OF_PLANE.has(kind) || (kind === Service.kind && (clusterName !== "" || agentCluster !== undefined)),
  );
}

const OF_PLANE: ReadonlySet<string> = new Set([Mesh, Destination, Workload, KubernetesCluster].map(({ kind }) => kind));

/** Separates what such an input can be blamed for from what only its clusters know, and adds references between objects of the input. */
export function withoutCluster(reports: readonly Report[], known: KnownObjects): WithoutCluster {
  const evaluated: Report[] = [];
  const left: Report[] = [];
  for (const report of reports) (isOfClusters(report, known) ? left : evaluated).push(report);
  return { evaluated: [...evaluated, ...unknownVirtualDestinations(known)], left, notes: LEFT };
}

/** Whether somebody has written anything that refers to clusters. */
export function refersToClusters(resources: readonly Resource[], rejected: readonly RejectedObject[]): boolean {
  const isUsers = ({ apiVersion, kind }: Pick<ResourceRef, "apiVersion" | "kind">): boolean => {
    const found = kindOf(apiVersion, kind);
    return found !== undefined && hasUserStatus(found);
  };
  return resources.some(isUsers) || rejected.some(({ ref }) => ref !== undefined && isUsers(ref));
}

const LEFT: readonly Note[] = [
  {
    code: "ClusterNotGiven",
    message:
      "the input has no cluster, so whether the Services, meshes and clusters that it names exist is not judged, nor what is selected: add a dump of the clusters with -f, or what a server knows with --snapshot (meshctl snapshot save)",
  },
];

function isOfClusters({ code, message, subject }: Report, known: KnownObjects): boolean {
  const field = fieldOf(message);
  // Objects of users, of which the input has some: then all that it refers to may be expected in it.
  if (field.includes(".virtualDestinationRefs.")) return names(known, VirtualDestination.kind).size === 0;
  if (OF_CLUSTERS.has(code)) return true;
  // A mesh that is not known is of no cluster.
  if (code === "OutOfReach") return subject.kind === VirtualMesh.kind && field.startsWith("spec.meshes");
  if (code !== "VirtualMeshUnknown") return false;
  // One that is given is not in force for want of its meshes; where none is given, they are in another folder.
  return names(known, VirtualMesh.kind).size === 0 || names(known, VirtualMesh.kind).has(nameOf(known.given(subject, field)));
}

/** Reported of what is not found in clusters, or of what follows from that. */
const OF_CLUSTERS: ReadonlySet<string> = new Set([
  "DestinationUnknown",
  "GatewayMissing",
  "GatewayNotSelected",
  "LastAcceptedInForce",
  "MeshUnknown",
  "MirrorTargetUnknown",
  "NothingFederated",
  "NothingSelected",
  "TrafficShiftTargetUnknown",
  "VirtualDestinationNotWritten",
]);

/** Targets of TrafficPolicies that are looked up per destination otherwise; nothing is said where the input has no VirtualDestination at all. */
function unknownVirtualDestinations(known: KnownObjects): readonly Report[] {
  const given = names(known, VirtualDestination.kind);
  if (given.size === 0) return [];
  return known.of(TrafficPolicy).flatMap((policy) => {
    const { trafficShift, mirror } = policy.spec?.policy ?? {};
    const targets = [
      ...(trafficShift?.destinations ?? []).map(({ virtualDestination }, i) => ({
        code: "TrafficShiftTargetUnknown",
        path: `spec.policy.trafficShift.destinations[${i}].virtualDestination`,
        ref: virtualDestination,
      })),
      { code: "MirrorTargetUnknown", path: "spec.policy.mirror.virtualDestination", ref: mirror?.virtualDestination },
    ];
    return targets.flatMap(({ code, path, ref }): readonly Report[] => {
      const { name = "", namespace = "" } = ref ?? {};
      if (name === "" || namespace === "" || given.has(nameOf(ref))) return [];
      const message = `${path}: VirtualDestination ${displayName({ name, namespace, clusterName: "" })} not found: check name and namespace`;
      return [{ subject: refOf(policy), state: "INVALID", code, message }];
    });
  });
}

/** `namespace/name` of the objects of a kind, also of those that cannot be used. */
function names(known: KnownObjects, kind: string): ReadonlySet<string> {
  const refs = known.rejected.flatMap(({ ref }) => (ref?.kind === kind ? [ref] : []));
  const used = kind === VirtualMesh.kind ? known.of(VirtualMesh) : known.of(VirtualDestination);
  return new Set([...refs, ...used.map(({ metadata }) => metadata)].map(nameOf));
}

function nameOf(value: unknown): string {
  const { name, namespace } = (value ?? {}) as { readonly name?: unknown; readonly namespace?: unknown };
  return `${namespace}/${name}`;
}
