import { areRevisions, Destination, Mesh, VirtualMesh } from "@isthmus/api";
import { type Collection, displayName, formatRef, keyOf, keyOfResource, type Report, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf, warningFinding } from "../findings.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import { doubtfulVirtualMesh } from "../policy/doubtfulValues.ts";
import { byService } from "../policy/indexes.ts";
import { ineffectiveFindings } from "../policy/ineffective.ts";
import { missingMembers } from "../policy/missingMembers.ts";
import { meshCluster, meshOutOfScope, policyScopeFrom, virtualMeshOutOfScope } from "../policy/policyScope.ts";
import { precedence } from "../policy/precedence.ts";
import { selectorFindings } from "../policy/references.ts";
import type { AttachmentStep } from "./attachment.ts";

/** Which VirtualMesh each mesh belongs to. */
export interface Memberships {
  /** Accepted VirtualMeshes in order of precedence. */
  readonly accepted: readonly VirtualMesh[];
  /** By the key of the mesh. */
  readonly virtualMeshOf: ReadonlyMap<string, VirtualMesh>;
  readonly reports: readonly Report[];
}

/**
 * Decides for each VirtualMesh as a whole: with a mesh that one before it has, none of it is in force. Without a mesh that it names, as when
 * a cluster no longer reports one, it is in force on the others: no cluster's word takes the rest apart.
 */
export function memberships({ inputs, translationContext, since }: AttachmentStep, before: Memberships | undefined): Memberships {
  const [virtualMeshes, meshes, destinations] = [inputs.of(VirtualMesh), inputs.of(Mesh), inputs.of(Destination)];
  const isContinued = before !== undefined && since !== undefined && since.translationContext === translationContext;
  if (isContinued && !since.changes.some(VirtualMesh, Mesh)) {
    if (!since.changes.some(Destination) || ![...virtualMeshes].some(namesGateways)) return before;
  }
  const accepted: VirtualMesh[] = [];
  const virtualMeshOf = new Map<string, VirtualMesh>();
  const taken = new Map<string, VirtualMesh>();
  const reports: Report[] = [];
  const reach = policyScopeFrom(translationContext);
  for (const virtualMesh of [...virtualMeshes].sort(precedence(translationContext.ages))) {
    const limit = reach.limitOfVirtualMesh(virtualMesh);
    const findings =
      limit === "refused"
        ? [virtualMeshOutOfScope(virtualMesh)]
        : [
            ...meshFindings(virtualMesh, { meshes, taken, limit, observed: translationContext.observedClusters }),
            ...gatewaySelectorFindings(virtualMesh, destinations, limit),
            ...ownFindings(virtualMesh),
          ];
    reports.push(...findings.map((finding) => reportOf(refOf(virtualMesh), finding)));
    if (findings.some(({ state, code }) => state === "INVALID" && !PARTLY_IN_FORCE.has(code))) continue;
    // Also those that are unknown: that a cluster reports none any more, or again, changes nothing for who else names it.
    for (const key of meshKeysOf(virtualMesh)) taken.set(key, virtualMesh);
    const known = meshKeysOf(virtualMesh).filter((key) => meshes.row(key) !== undefined);
    if (known.length === 0 && meshKeysOf(virtualMesh).length > 0) continue;
    accepted.push(virtualMesh);
    for (const key of known) virtualMeshOf.set(key, virtualMesh);
  }
  for (const virtualMesh of accepted) {
    reports.push(...revisionFindings(virtualMesh, meshes, taken).map((finding) => reportOf(refOf(virtualMesh), finding)));
  }
  return { accepted, virtualMeshOf, reports };
}

// The rest of a VirtualMesh is in force where one of its meshes is unknown, or nothing of it is federated.
const PARTLY_IN_FORCE: ReadonlySet<string> = new Set(["MeshUnknown", "SelectorNotUnderstood"]);

/** Accepted VirtualMeshes by their keys. */
export const acceptedByKey = memoizeRow(
  ({ accepted }: Memberships): ReadonlyMap<string, VirtualMesh> => new Map(accepted.map((one) => [keyOfResource(one), one])),
);

// What can be said of a VirtualMesh by itself.
const ownFindings = memoizeRow((virtualMesh: VirtualMesh) => [
  ...federationSelectorFindings(virtualMesh),
  ...meshTranslators.flatMap((translator) => translator.virtualMeshFindings?.(virtualMesh) ?? []),
  ...ineffectiveFindings(virtualMesh),
  ...doubtfulVirtualMesh(virtualMesh),
]);

function namesGateways({ spec }: VirtualMesh): boolean {
  return (spec?.federation?.eastWestIngressGatewaySelectors ?? []).length > 0;
}

/** The keys of the meshes of a VirtualMesh, sorted, each once. */
export const meshKeysOf = memoizeRow(({ spec }: VirtualMesh): readonly string[] => [...new Set((spec?.meshes ?? []).map(meshKey))].sort());

/** The key of the mesh that a reference names. */
export function meshKey({ name = "", namespace = "" }: { readonly name?: string; readonly namespace?: string }): string {
  return keyOf({ name, namespace, clusterName: "" });
}

interface MeshSources {
  readonly meshes: Collection<Mesh>;
  /** By the key of the mesh. */
  readonly taken: ReadonlyMap<string, VirtualMesh>;
  /** The only cluster whose meshes count. */
  readonly limit: string | undefined;
  /** Clusters in which nothing is written for now. */
  readonly observed: ReadonlySet<string>;
}

function meshFindings({ spec }: VirtualMesh, { meshes, taken, limit, observed }: MeshSources): readonly Finding[] {
  return (spec?.meshes ?? []).flatMap((ref, i) => {
    const path = `spec.meshes[${i}]`;
    const missing = missingMembers(ref, ["name", "namespace"]);
    if (missing !== undefined) return [invalidFinding("MeshRefIncomplete", `${path}: ${missing}`)];
    const { name = "", namespace = "" } = ref;
    const mesh = meshes.get({ name, namespace, clusterName: "" });
    if (limit !== undefined && (mesh === undefined || meshCluster(mesh) !== limit)) return [meshOutOfScope(path, limit)];
    const owner = taken.get(meshKey(ref));
    if (owner !== undefined) {
      const message = `${path}: Mesh ${displayName({ name, namespace })} already belongs to ${formatRef(refOf(owner))}: remove it from one of the two`;
      return [invalidFinding("MeshTaken", message)];
    }
    if (mesh === undefined) {
      return [
        invalidFinding(
          "MeshUnknown",
          `${path}: Mesh ${displayName({ name, namespace })} not found, so it is not in this VirtualMesh: check the name, and that its cluster is registered`,
        ),
      ];
    }
    const cluster = meshCluster(mesh);
    if (spec?.federation === undefined || !observed.has(cluster)) return [];
    return [
      warningFinding(
        "ClusterObserved",
        `${path}: Mesh ${displayName({ name, namespace })} is in cluster ${cluster}, which is observed, so its services are not federated to other ` +
          "clusters: set spec.mode of its KubernetesCluster to manage",
      ),
    ];
  });
}

/** The other revisions of the control planes of a VirtualMesh that are in none. Of those in another one, that one speaks. */
function revisionFindings({ spec }: VirtualMesh, meshes: Collection<Mesh>, taken: ReadonlyMap<string, VirtualMesh>): readonly Finding[] {
  return (spec?.meshes ?? []).flatMap((ref, i) => {
    const member = meshes.row(meshKey(ref));
    if (member === undefined) return [];
    const { name } = member.metadata;
    return meshes
      .where(byMeshCluster, meshCluster(member))
      .filter((other) => areRevisions(other, member) && !taken.has(keyOfResource(other)))
      .map((other) => {
        const message =
          `spec.meshes[${i}]: ${formatRef(refOf(other))} is another revision of ${name} and in no VirtualMesh: its workloads stay federated ` +
          `as long as both are there; add it before ${name} is removed`;
        return warningFinding("RevisionNotJoined", message);
      });
  });
}

function byMeshCluster(mesh: Mesh): readonly string[] {
  return [meshCluster(mesh)];
}

function gatewaySelectorFindings(
  { spec }: VirtualMesh,
  destinations: Collection<Destination>,
  limit: string | undefined,
): readonly Finding[] {
  const hasService = (key: string) => destinations.where(byService, key).length > 0;
  const sources = { hasService, limit: { clusterName: limit, namespace: undefined } };
  return (spec?.federation?.eastWestIngressGatewaySelectors ?? []).flatMap(({ destinationSelectors }, i) =>
    selectorFindings(`spec.federation.eastWestIngressGatewaySelectors[${i}].destinationSelectors`, destinationSelectors, sources),
  );
}

function federationSelectorFindings(virtualMesh: VirtualMesh): readonly Finding[] {
  const members = new Set(meshKeysOf(virtualMesh));
  return (virtualMesh.spec?.federation?.selectors ?? []).flatMap(({ meshes }, i) =>
    (meshes ?? []).flatMap((ref, j) => {
      if (members.has(meshKey(ref))) return [];
      const path = `spec.federation.selectors[${i}].meshes[${j}]`;
      const message = `${path}: Mesh ${displayName({ name: "", ...ref })} is not in spec.meshes of this VirtualMesh, so it does not share its trust: add it there, or remove it here`;
      return [warningFinding("FederatedMeshUnknown", message)];
    }),
  );
}
