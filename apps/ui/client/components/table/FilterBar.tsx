import { useId, useLayoutEffect, useRef } from "react";
import { csvText } from "../../model/lines/csv.ts";
import { t } from "../../strings.ts";
import { usePageSearch } from "../frame/usePageSearch.ts";
import { isTyping } from "../isTyping.ts";
import { save } from "../save.ts";
import { useTyped } from "../useTyped.ts";
import { ColumnChooser } from "./ColumnChooser.tsx";
import { type Column, tokenKeys } from "./tableColumns.ts";

export interface FilterBarProps<R> {
  readonly what: string;
  readonly columns: readonly Column<R>[];
  /** Those that are shown, where a person chooses them; they are exported. */
  readonly chosen?: readonly Column<R>[];
  readonly shown: readonly R[];
  readonly total: number;
}

/** The filter of a table, how many rows match it, and their export. */
export function FilterBar<R>({ what, columns, chosen, shown, total }: FilterBarProps<R>) {
  const [{ q = "" }, change] = usePageSearch();
  const [text, type] = useTyped(q, (next) => change({ q: next }));
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // Before the page is painted: keys work as soon as it is seen.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "f" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const exported = chosen ?? columns;
  const headers = exported.map(({ title }) => title);
  const valuesOf = (row: R) => exported.map((column) => column.text(row));
  return (
    <div className="filter-bar">
      <label htmlFor={id} className="visually-hidden">
        {t.table.filter}
      </label>
      <input
        ref={input}
        id={id}
        className="input"
        type="search"
        value={text}
        spellCheck={false}
        autoComplete="off"
        placeholder={t.table.filterPlaceholder(tokenKeys(columns))}
        onChange={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          // The browser would empty the field.
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
      <span className="count" role="status">
        {t.table.count(shown.length, total, what)}
      </span>
      <span className="exports">
        {chosen === undefined ? null : <ColumnChooser columns={columns} chosen={chosen} />}
        <button type="button" className="button small" onClick={() => save(`${what}.csv`, csvText([headers, ...shown.map(valuesOf)]))}>
          CSV
        </button>
        <button
          type="button"
          className="button small"
          onClick={() => {
            const objects = shown.map((row) => Object.fromEntries(exported.map((column) => [column.id, column.text(row)])));
            save(`${what}.json`, JSON.stringify(objects, null, 2));
          }}
        >
          JSON
        </button>
      </span>
    </div>
  );
}
