/** Rows in groups, with a bound on all together that no group can use up at the cost of smaller ones. */
export interface FairTable<Row> {
  readonly size: number;
  readonly groups: ReadonlyMap<string, ReadonlyMap<string, Row>>;
  get(group: string, key: string): Row | undefined;
  /**
   * Adds a row that is not there. When the table is full, the group with the most rows gives up its oldest one, of which `dropped` is called.
   * Where that is the group of the new row itself, it does so only if that row may be given up for another of its group; else false, and nothing
   * changes.
   */
  add(group: string, key: string, row: Row): boolean;
  /** Makes a row the newest of its group. */
  touch(group: string, key: string): void;
  delete(group: string, key: string): void;
}

/** An empty table for `most` rows. `isStale`: whether a row may be given up for another of its own group; no row may without it. */
export function fairTable<Row>(
  most: number,
  dropped: (row: Row, group: string) => void,
  isStale: (row: Row) => boolean = () => false,
): FairTable<Row> {
  const groups = new Map<string, Map<string, Row>>();
  let size = 0;

  function remove(group: string, key: string): void {
    const rows = groups.get(group);
    if (rows?.delete(key) !== true) return;
    size--;
    if (rows.size === 0) groups.delete(group);
  }

  /** Whether there is room for one more row of a group, after the largest has given up one. */
  function hasRoom(group: string): boolean {
    if (size < most) return true;
    const own = groups.get(group);
    let [largest, rows] = [group, own];
    for (const entry of groups) if (entry[1].size > (rows?.size ?? 0)) [largest, rows] = entry;
    const [oldest] = rows ?? [];
    if (oldest === undefined || (rows === own && !isStale(oldest[1]))) return false;
    remove(largest, oldest[0]);
    dropped(oldest[1], largest);
    return true;
  }

  return {
    get size() {
      return size;
    },
    groups,
    get: (group, key) => groups.get(group)?.get(key),
    add(group, key, row) {
      if (!hasRoom(group)) return false;
      const rows = groups.get(group) ?? new Map<string, Row>();
      groups.set(group, rows.set(key, row));
      size++;
      return true;
    },
    touch(group, key) {
      const rows = groups.get(group);
      const row = rows?.get(key);
      if (rows === undefined || row === undefined) return;
      rows.delete(key);
      rows.set(key, row);
    },
    delete: remove,
  };
}
