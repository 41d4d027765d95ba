import { ClusterError } from "@isthmus/ports";
import { type FieldManager, isSameManager, type Writer, withoutFields } from "./fieldManagers.ts";
import { type FieldTypes, formatPath, type Position } from "./fieldPath.ts";
import { changesBetween, difference, type FieldSet, fieldsOf, hasBelow, intersection, noFields, unionOfFields } from "./fieldSet.ts";
import { mergeConfiguration, without } from "./merge.ts";

/** What is written of an object and by whom each part was. */
export interface Managed<C> {
  readonly content: C;
  readonly managers: readonly FieldManager[];
}

export interface Application<C> {
  /** All that the writer wants, as it wants it. */
  readonly desired: C;
  readonly writer: Writer;
  /** Take over fields that others own and that would change. */
  readonly force: boolean;
  readonly kindKey: string;
  readonly types?: FieldTypes | undefined;
}

/**
 * Server-side apply: `wanted` is laid over the live object; what the writer applied before and wants no more goes, unless
 * another manager owns it too. Throws ClusterError `Conflict` when a field of another manager would change without force.
 * Source: kubernetes.io/docs/reference/using-api/server-side-apply.
 */
export function applyManaged<C extends object>(live: Managed<C>, { desired, writer, force, kindKey, types }: Application<C>): Managed<C> {
  const root: Position = { kindKey, path: "", types };
  const own = live.managers.find((manager) => isSameManager(manager, writer));
  const others = live.managers.filter((manager) => manager !== own);
  const fields = fieldsOf(desired, root);

  let content: unknown = mergeConfiguration(live.content, desired, root);
  const kept = others.reduce<FieldSet>((all, manager) => unionOfFields(all, manager.fields), fields);
  for (const path of difference(own?.fields ?? noFields, kept)) {
    if (!hasBelow(kept, path)) content = without(content, path, root);
  }

  const { added, modified, removed } = changesBetween(live.content, content, root);
  // A field is removed when a value of another type takes its place.
  const changed = unionOfFields(unionOfFields(added, modified), removed);
  const conflicts = others.flatMap((manager) => {
    const contested = intersection(manager.fields, changed);
    return contested.size === 0 ? [] : [{ manager, contested }];
  });
  if (conflicts.length > 0 && !force) throw conflict(conflicts);

  const rest = withoutFields(others, changed);
  return { content: content as C, managers: fields.size === 0 ? rest : [...rest, { ...writer, fields }] };
}

/** One manager with the fields that it owns and that would change. */
export interface ConflictingManager {
  readonly manager: FieldManager;
  readonly contested: FieldSet;
}

/** Fields that other managers own and that would change. */
export class ApplyConflict extends ClusterError {
  readonly conflicting: readonly ConflictingManager[];

  constructor(
    message: string,
    details: { readonly fields: readonly string[]; readonly manager?: string },
    conflicting: readonly ConflictingManager[],
  ) {
    super("Conflict", message, details);
    this.conflicting = conflicting;
  }
}

function conflict(conflicting: readonly ConflictingManager[]): ClusterError {
  const fields = conflicting.flatMap(({ contested }) => [...contested].map(formatPath)).sort();
  const parties = conflicting.map(({ manager, contested }) => {
    const version = manager.operation === "Update" ? ` using ${manager.apiVersion}` : "";
    return `conflict with "${manager.manager}"${version}: ${[...contested].map(formatPath).join(", ")}`;
  });
  const count = `${fields.length} ${fields.length === 1 ? "conflict" : "conflicts"}`;
  const manager = conflicting[0]?.manager.manager;
  const details = { fields, ...(manager === undefined ? {} : { manager }) };
  return new ApplyConflict(`Apply failed with ${count}: ${parties.join("; ")}`, details, conflicting);
}
