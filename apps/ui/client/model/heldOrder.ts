/** Rows in an order that holds still, and what is kept back meanwhile. */
export interface HeldRows<R> {
  /** In the order of `keys`; those that are gone as they were last. */
  readonly rows: readonly { readonly key: string; readonly row: R; readonly isGone: boolean }[];
  /** How many rows came that have no place in the order. */
  readonly added: number;
  /** Whether rows that have a place would stand in another one now. */
  readonly isReordered: boolean;
}

/** Today's rows (by key, in their own order) in yesterday's order: values change in place, nothing moves. */
export function heldRows<R>(held: ReadonlyMap<string, R>, now: ReadonlyMap<string, R>): HeldRows<R> {
  const rows = [...held].map(([key, before]) => {
    const row = now.get(key);
    return { key, row: row ?? before, isGone: row === undefined };
  });
  const staying = rows.filter(({ isGone }) => !isGone).map(({ key }) => key);
  const known = [...now.keys()].filter((key) => held.has(key));
  return { rows, added: now.size - known.length, isReordered: staying.some((key, i) => key !== known[i]) };
}
