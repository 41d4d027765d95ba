/** A record in which no member holds its type's zero value. */
export type WithoutZeroValues<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * A record without the members that hold zero values: the published API leaves out empty texts, lists and maps, 0 and false.
 * Members inside members stay as they are.
 */
export function withoutZeroValues<T extends object>(record: T): WithoutZeroValues<T> {
  const members: Partial<T> = {};
  // No list of members: a million records are made.
  for (const key in record) if (!isZero(record[key])) members[key] = record[key];
  return members as WithoutZeroValues<T>;
}

/** Whether a value is its type's zero value. */
export function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && isEmptyRecord(value);
}

/** Without a list of its keys: a million records are asked. */
function isEmptyRecord(record: object): boolean {
  for (const _ in record) return false;
  return true;
}
