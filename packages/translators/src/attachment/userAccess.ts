import { type Destination, Mesh } from "@isthmus/api";
import { compareKeys, equalJson, keyOfResource, type Resource } from "@isthmus/core";
import { inputKind, join, unionOf } from "../incremental/join.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import { NETWORKING_OWNER_LABEL } from "../meshes/outputMetadata.ts";
import { byMesh } from "../policy/indexes.ts";
import { namespaceKey, namespaceLocationOf } from "../policy/podIndexes.ts";
import { meshCluster } from "../policy/policyScope.ts";
import type { AttachedPolicies } from "./attachedPolicies.ts";
import { type AttachedSources, attachedPoliciesJoin, destinations } from "./destinationJoins.ts";

const NONE: readonly never[] = [];

// From those on which AccessPolicies bear alone: of others, a change of a rule concerns nobody.
const guarded = join({ from: attachedPoliciesJoin.source, key: guardedKey, to: destinations, isSame: isSamePlace });
const meshes = join({ from: guarded.source, key: byMesh, to: inputKind<AttachedSources, Mesh>(Mesh) });

/** Destination → the objects of users that say who may call, in its namespace and in the root namespace of its mesh. */
export const userAccessJoin = unionOf(
  meshTranslators.flatMap((translator) => {
    const { userAccess } = translator;
    if (userAccess === undefined) return [];
    const byRoot = (mesh: Mesh) =>
      mesh.spec?.[translator.type] === undefined
        ? NONE
        : [namespaceKey({ clusterName: meshCluster(mesh), namespace: userAccess.rootNamespaceOf(mesh) })];
    return [userAccess.kind, ...userAccess.others].flatMap((kind) => {
      const to = inputKind<AttachedSources, Resource>(kind);
      const found = { to, index: byPlace, isSame: isSameRule };
      return [join({ from: guarded.source, key: byPlaceOfService, ...found }), join({ from: meshes.source, key: byRoot, ...found })];
    });
  }),
);

/** Of what was found those of users, in key order, each once. */
export function usersOwn(found: readonly Resource[]): readonly Resource[] {
  if (found.length === 0) return found;
  const byKey = new Map(
    found
      .filter(({ metadata }) => metadata.labels?.[NETWORKING_OWNER_LABEL] === undefined)
      .map((one) => [`${one.kind} ${keyOfResource(one)}`, one]),
  );
  return [...byKey].sort(([a], [b]) => compareKeys(a, b)).map(([, one]) => one);
}

function guardedKey({ key, accessPolicies, heldAccess }: AttachedPolicies): readonly string[] {
  return accessPolicies.length + heldAccess.length > 0 ? [key] : NONE;
}

function isSamePlace(before: Destination, after: Destination): boolean {
  return equalJson(before.spec?.mesh, after.spec?.mesh) && equalJson(before.spec?.kubeService?.ref, after.spec?.kubeService?.ref);
}

/** Of a rule, what proxies read of it. */
function isSameRule(before: Resource, after: Resource): boolean {
  const read = ({ metadata, ...rest }: Resource) => [
    metadata.labels,
    metadata.annotations,
    metadata.creationTimestamp,
    (rest as { readonly spec?: unknown }).spec,
  ];
  return before === after || equalJson(read(before), read(after));
}

function byPlace(resource: Resource): readonly string[] {
  return [namespaceKey(namespaceLocationOf(resource))];
}

function byPlaceOfService({ spec }: Destination): readonly string[] {
  const ref = spec?.kubeService?.ref;
  return ref === undefined ? NONE : [namespaceKey(ref)];
}
