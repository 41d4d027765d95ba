/** Values by a text that each of them has, in the order in which they come. As Map.groupBy, which Node 20 does not have. */
export function groupsBy<T>(values: Iterable<T>, keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
