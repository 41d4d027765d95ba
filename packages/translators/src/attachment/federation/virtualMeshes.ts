import { areRevisions, Destination, Mesh, VirtualMesh } from "@isthmus/api";
import { type Collection, displayName, equalJson, formatRef, keyOf, keyOfResource, type Report, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf, warningFinding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { meshTranslators } from "../../meshes/meshTranslators.ts";
import { doubtfulVirtualMesh } from "../../policy/doubtfulValues.ts";
import { virtualMeshForms, virtualMeshInForce } from "../../policy/forms/virtualMeshForms.ts";
import { hostnameSuffixFindings, withoutFederation } from "../../policy/hosts/hostnameSuffix.ts";
import { byService } from "../../policy/indexes.ts";
import { ineffectiveFindings } from "../../policy/ineffective.ts";
import { missingMembers } from "../../policy/missingMembers.ts";
import { meshCluster, meshOutOfScope, policyScopeFrom, virtualMeshOutOfScope } from "../../policy/policyScope.ts";
import { precedence } from "../../policy/precedence.ts";
import { selectorFindings } from "../../policy/references.ts";
import type { AttachmentStep } from "../step.ts";

/** Which VirtualMesh each mesh belongs to. */
export interface Memberships {
  /** Accepted VirtualMeshes in order of precedence, each as it is in force. */
  readonly accepted: readonly VirtualMesh[];
  /** By the key of the mesh. */
  readonly virtualMeshOf: ReadonlyMap<string, VirtualMesh>;
  readonly reports: readonly Report[];
}

/**
 * Decides for each VirtualMesh as a whole: with a mesh that one before it has, none of it is in force, or it is as it was last accepted.
 * Without a mesh that it names, as when a cluster no longer reports one, it is in force on the others: no cluster's word takes the rest apart.
 */
export function memberships({ inputs, translationContext, since }: AttachmentStep, before: Memberships | undefined): Memberships {
  const [virtualMeshes, meshes, destinations] = [inputs.of(VirtualMesh), inputs.of(Mesh), inputs.of(Destination)];
  const isContinued = before !== undefined && since !== undefined && since.translationContext === translationContext;
  if (isContinued && !since.changes.some(VirtualMesh, Mesh)) {
    if (!since.changes.some(Destination) || ![...virtualMeshes].some(mayNameGateways)) return before;
  }
  const accepted: VirtualMesh[] = [];
  const virtualMeshOf = new Map<string, VirtualMesh>();
  const taken = new Map<string, Membership>();
  const reports: Report[] = [];
  const reach = policyScopeFrom(translationContext);
  for (const virtualMesh of [...virtualMeshes].sort(precedence(translationContext.ages))) {
    const limit = reach.limitOfVirtualMesh(virtualMesh);
    const {
      form: formInForce,
      findings,
      consequence,
    } = limit === "refused"
      ? { form: undefined, findings: [virtualMeshOutOfScope(virtualMesh)], consequence: [] }
      : virtualMeshInForce(virtualMesh, {
          findingsOf: (form) => [
            ...meshFindings(form, { meshes, taken, limit, observed: translationContext.observedClusters }),
            ...gatewaySelectorFindings(form, destinations, limit),
            ...hostnameSuffixFindings(form, translationContext.clusterDomains),
            ...ownFindings(form),
          ],
          isFound: (mesh) => meshes.row(meshKey(mesh)) !== undefined,
        });
    reports.push(...findings.map((finding) => reportOf(refOf(virtualMesh), finding)));
    if (formInForce === undefined) continue;
    const isFederable = hostnameSuffixFindings(formInForce, translationContext.clusterDomains).length === 0;
    const inForce = isFederable ? formInForce : withoutFederation(formInForce);
    // That its status says what is in force is no news.
    const known = before && acceptedByKey(before).get(keyOfResource(inForce));
    const form = known !== undefined && equalJson(known, inForce) ? known : inForce;
    // Also those that are unknown: that a cluster reports none any more, or again, changes nothing for who else names it.
    const named = new Set(meshKeysOf(virtualMesh));
    for (const key of meshKeysOf(form)) taken.set(key, { owner: form, isNamed: named.has(key) });
    const members = meshKeysOf(form).filter((key) => meshes.row(key) !== undefined);
    if (members.length === 0 && meshKeysOf(form).length > 0) continue;
    reports.push(...consequence.map((finding) => reportOf(refOf(virtualMesh), finding)));
    accepted.push(form);
    for (const key of members) virtualMeshOf.set(key, form);
  }
  for (const virtualMesh of accepted) {
    reports.push(...revisionFindings(virtualMesh, meshes, taken).map((finding) => reportOf(refOf(virtualMesh), finding)));
  }
  return { accepted, virtualMeshOf, reports };
}

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

function mayNameGateways(virtualMesh: VirtualMesh): boolean {
  const { written, last } = virtualMeshForms(virtualMesh);
  return [written, last].some((form) => (form?.spec?.federation?.eastWestIngressGatewaySelectors ?? []).length > 0);
}

/** The keys of the meshes of a VirtualMesh, sorted, each once. */
export const meshKeysOf = memoizeRow(({ spec }: VirtualMesh): readonly string[] => [...new Set((spec?.meshes ?? []).map(meshKey))].sort());

/** The key of the mesh that a reference names. */
export function meshKey({ name = "", namespace = "" }: { readonly name?: string; readonly namespace?: string }): string {
  return keyOf({ name, namespace, clusterName: "" });
}

interface Membership {
  readonly owner: VirtualMesh;
  /** Whether its spec names the mesh; else its last accepted one does, which is in force. */
  readonly isNamed: boolean;
}

interface MeshSources {
  readonly meshes: Collection<Mesh>;
  /** By the key of the mesh. */
  readonly taken: ReadonlyMap<string, Membership>;
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
    const membership = taken.get(meshKey(ref));
    if (membership !== undefined) {
      const { owner, isNamed } = membership;
      const remedy = isNamed ? "remove it from one of the two" : "correct that one, whose last accepted spec names it and stays in force";
      const message = `${path}: Mesh ${displayName({ name, namespace })} already belongs to ${formatRef(refOf(owner))}: ${remedy}`;
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
function revisionFindings({ spec }: VirtualMesh, meshes: Collection<Mesh>, taken: ReadonlyMap<string, Membership>): readonly Finding[] {
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
