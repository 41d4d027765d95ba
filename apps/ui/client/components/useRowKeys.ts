import { type RefObject, useEffect } from "react";
import { isTyping } from "./isTyping.ts";

/** `j` and `k` move the focus from row to row of a table; `index` counts from 0. */
export function useRowKeys(count: number, scrollTo: (index: number) => void, body: RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.key !== "j" && event.key !== "k") || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const row = document.activeElement?.closest("[data-index]");
      const at = row instanceof HTMLElement ? Number(row.dataset["index"]) : undefined;
      const next = at === undefined ? 0 : Math.min(count - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)));
      scrollTo(next);
      // The row may have to be rendered first.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => body.current?.querySelector<HTMLElement>(`[data-index="${next}"] a`)?.focus()),
      );
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
}
