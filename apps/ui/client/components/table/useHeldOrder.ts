import { useMemo, useRef, useState } from "react";
import { type HeldRows, heldRows } from "../../model/heldOrder.ts";

export interface HeldOrder<R> extends HeldRows<R> {
  /** Takes over the order that the rows have now. */
  show(): void;
}

/** Keeps the order of rows while `isHeld`; another `basis` (filter, order of a person's choice) ends what is held. */
export function useHeldOrder<R>(now: ReadonlyMap<string, R>, isHeld: boolean, basis: string): HeldOrder<R> {
  const held = useRef({ rows: now, basis });
  const [shown, showAgain] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shown` counts how often the order was taken over
  const result = useMemo(() => {
    if (!isHeld || held.current.basis !== basis) held.current = { rows: now, basis };
    const next = heldRows(held.current.rows, now);
    // Rows that are gone keep their last value.
    if (held.current.rows !== now) held.current = { rows: new Map(next.rows.map(({ key, row }) => [key, row])), basis };
    return next;
  }, [now, isHeld, basis, shown]);
  return {
    ...result,
    show() {
      held.current = { rows: now, basis };
      showAgain((count) => count + 1);
    },
  };
}
