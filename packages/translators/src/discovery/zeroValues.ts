import { packedWhere } from "@isthmus/core";

/** A record in which no member holds its type's zero value. */
export type WithoutZeroValues<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * A record without the members that hold zero values: the published API leaves out empty texts, lists and maps, 0 and false.
 * Members inside members stay as they are.
 */
export function withoutZeroValues<T extends object>(record: T): WithoutZeroValues<T> {
  return packedWhere(record, (value) => !isZero(value)) as WithoutZeroValues<T>;
}

function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value).length === 0;
}
