import { Mesh, type VirtualMesh } from "@isthmus/api";
import { type EntryChange, keyOf, keyOfResource } from "@isthmus/core";
import { changesOf } from "../incremental/changes.ts";
import type { Translation } from "../pipeline/translate.ts";

/** Which meshes are grouped by a VirtualMesh; every other one is a group of its own. */
export interface MeshGroups {
  /** By the key of a mesh. */
  readonly groupOf: ReadonlyMap<string, string>;
  /** By group, the keys of its meshes. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** The groups that gained or lost a mesh. */
  readonly changed: ReadonlySet<string>;
}

/** Made again, at the cost of all meshes, when one of them changed its group; else as before. */
export function groupsOf(
  { attached }: Translation,
  before: { readonly translation: Translation; readonly groups: MeshGroups } | undefined,
): MeshGroups {
  const changes = changesOf(Mesh, attached, before?.translation.attached).filter(
    (change) => groupIn(change, "before") !== groupIn(change, "after"),
  );
  if (before !== undefined && changes.length === 0)
    return before.groups.changed.size === 0 ? before.groups : { ...before.groups, changed: new Set() };
  const groupOf = new Map<string, string>();
  const members = new Map<string, string[]>();
  for (const mesh of attached.of(Mesh)) {
    const key = keyOfResource(mesh);
    const group = groupNamed(mesh, key);
    groupOf.set(key, group);
    const list = members.get(group);
    if (list === undefined) members.set(group, [key]);
    else list.push(key);
  }
  return { groupOf, members, changed: new Set(changes.flatMap((change) => [groupIn(change, "before"), groupIn(change, "after")])) };
}

/** The group of a mesh, whether it is known or not. */
export function groupOfMesh(key: string, { groupOf }: MeshGroups): string {
  return groupOf.get(key) ?? groupAlone(key);
}

/** The keys of the meshes of a group. */
export function meshesOf(group: string, { members }: MeshGroups): readonly string[] {
  return members.get(group) ?? [group.slice(groupAlone("").length)];
}

function groupIn({ key, ...change }: EntryChange<Mesh>, side: "before" | "after"): string {
  return groupNamed(change[side], key);
}

function groupNamed(mesh: Mesh | undefined, key: string): string {
  const ref: Partial<VirtualMesh["metadata"]> | undefined = mesh?.status?.appliedVirtualMesh?.ref;
  return ref === undefined ? groupAlone(key) : keyOf({ name: "", namespace: "", clusterName: "", ...ref });
}

/** The group of a mesh that no VirtualMesh groups. */
export function groupAlone(key: string): string {
  return `mesh ${key}`;
}
