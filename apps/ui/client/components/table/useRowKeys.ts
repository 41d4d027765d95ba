import { type RefObject, useLayoutEffect, useRef } from "react";
import { isTyping } from "../isTyping.ts";

export interface RowKeys {
  readonly count: number;
  /** Rows are counted from 0. */
  scrollTo(index: number): void;
  /** The row from which keys go on while none has the focus; undefined: there is none. */
  current?(): number | undefined;
  /** Space was pressed in a row. */
  peek?(index: number): void;
  /** `y` was pressed in a row. */
  copy?(index: number): void;
  /** The focus goes to another row. */
  moved?(index: number): void;
}

/** `j` and `k` move the focus from row to row of a table, Space shows the row that has it, `y` offers what can be copied of it. */
export function useRowKeys({ count, scrollTo, current, peek, copy, moved }: RowKeys, body: RefObject<HTMLDivElement | null>): void {
  // The row that is on its way into the page, when keys are faster than it.
  const coming = useRef<number>(undefined);
  // Before the page is painted: keys work as soon as it is seen.
  useLayoutEffect(() => {
    const focus = (index: number): boolean => {
      const link = body.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`);
      link?.focus();
      return link !== undefined && link !== null;
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === " " && peek !== undefined && event.target instanceof Element && event.target.matches("[data-index] a")) {
        const row = event.target.closest<HTMLElement>("[data-index]");
        // The page would scroll.
        event.preventDefault();
        if (body.current?.contains(row) === true) peek(Number(row?.dataset["index"]));
        return;
      }
      if (event.key === "y" && copy !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event)) {
        const row = document.activeElement?.closest<HTMLElement>("[data-index]");
        if (row === null || row === undefined || body.current?.contains(row) !== true) return;
        event.preventDefault();
        copy(Number(row.dataset["index"]));
        return;
      }
      if ((event.key !== "j" && event.key !== "k") || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const row = document.activeElement?.closest("[data-index]");
      const at = coming.current ?? (row instanceof HTMLElement ? Number(row.dataset["index"]) : current?.());
      const next = at === undefined ? 0 : Math.min(count - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)));
      scrollTo(next);
      moved?.(next);
      coming.current = focus(next) ? undefined : next;
      if (coming.current === undefined) return;
      const focusLater = (): void => {
        if (coming.current !== next) return;
        focus(next);
        coming.current = undefined;
      };
      requestAnimationFrame(() => requestAnimationFrame(focusLater));
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
}
