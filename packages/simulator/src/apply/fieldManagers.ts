import type { JsonObject } from "@isthmus/core";
import { difference, equalFields, type FieldChanges, type FieldSet, fieldSetFrom, fieldsV1, unionOfFields } from "./fieldSet.ts";

/** One manager's claim, as an entry of `metadata.managedFields`. */
export interface FieldManager {
  readonly manager: string;
  /** What was applied is a wish that the manager may withdraw; what was updated is a change that it once made. */
  readonly operation: "Apply" | "Update";
  readonly subresource: string;
  readonly apiVersion: string;
  /** RFC 3339 with seconds. */
  readonly time: string;
  readonly fields: FieldSet;
}

/** Who writes, and when. */
export type Writer = Omit<FieldManager, "fields">;

/** Whether two entries are of one manager: by name, operation and subresource; their version and time do not count. */
export function isSameManager(a: Writer, b: Writer): boolean {
  return a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource;
}

/** The managers after `writer` has made `changes` by a create or update: it owns what it set, nobody owns what is gone. */
export function afterUpdate(managers: readonly FieldManager[], writer: Writer, changes: FieldChanges): readonly FieldManager[] {
  const set = unionOfFields(changes.added, changes.modified);
  if (set.size === 0 && changes.removed.size === 0) return managers;
  const before = managers.find((manager) => isSameManager(manager, writer));
  const others = withoutFields(
    managers.filter((manager) => manager !== before),
    unionOfFields(set, changes.removed),
  );
  const fields = unionOfFields(difference(before?.fields ?? new Set(), changes.removed), set);
  return fields.size === 0 ? others : [...others, { ...writer, fields }];
}

/** The managers without claims to `fields`; those that own nothing more are left out. */
export function withoutFields(managers: readonly FieldManager[], fields: FieldSet): readonly FieldManager[] {
  return managers.flatMap((manager) => {
    const rest = difference(manager.fields, fields);
    if (rest === manager.fields) return [manager];
    return rest.size === 0 ? [] : [{ ...manager, fields: rest }];
  });
}

/** Whether two states of ownership say the same; times do not count. */
export function equalManagers(a: readonly FieldManager[], b: readonly FieldManager[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((manager) => {
    const other = b.find((candidate) => isSameManager(candidate, manager));
    return other !== undefined && other.apiVersion === manager.apiVersion && equalFields(other.fields, manager.fields);
  });
}

/** The managers as `metadata.managedFields` writes them. */
export function managedFieldsOf(managers: readonly FieldManager[]): readonly JsonObject[] {
  return managers.map(({ manager, operation, subresource, apiVersion, time, fields }) => ({
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: "FieldsV1",
    fieldsV1: fieldsV1(fields) as JsonObject,
    ...(subresource === "" ? {} : { subresource }),
  }));
}

/** The managers that `metadata.managedFields` names. */
export function managersFrom(managedFields: readonly JsonObject[]): readonly FieldManager[] {
  return managedFields.map((entry) => ({
    manager: String(entry["manager"]),
    operation: entry["operation"] === "Apply" ? "Apply" : "Update",
    subresource: typeof entry["subresource"] === "string" ? entry["subresource"] : "",
    apiVersion: String(entry["apiVersion"]),
    time: String(entry["time"]),
    fields: fieldSetFrom(entry["fieldsV1"] as JsonObject),
  }));
}
