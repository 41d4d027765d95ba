import type { CSSProperties } from "react";
import { formatSorting, nextSorting, parseSorting } from "../../model/sorting.ts";
import { t } from "../../strings.ts";
import { usePageSearch } from "../frame/usePageSearch.ts";
import type { Column } from "./tableColumns.ts";

export interface TableHeaderProps<R> {
  readonly columns: readonly Column<R>[];
  readonly grid: CSSProperties;
  readonly hasCopy: boolean;
}

/** The titles of a table's columns: each sorts by its column, then the other way round, then not at all; with Shift also by it, after others. */
export function TableHeader<R>({ columns, grid, hasCopy }: TableHeaderProps<R>) {
  const [{ sort }, change] = usePageSearch();
  const sortings = parseSorting(sort);
  return (
    <div role="rowgroup" className="table-head">
      <div role="row" className="table-row" style={grid} aria-rowindex={1}>
        {columns.map(({ id, title }) => {
          const at = sortings.findIndex(({ column }) => column === id);
          const isDescending = sortings[at]?.isDescending;
          const place = at >= 0 && sortings.length > 1 ? at + 1 : undefined;
          return (
            <div key={id} role="columnheader" aria-sort={at < 0 ? "none" : isDescending ? "descending" : "ascending"}>
              <button
                type="button"
                className="sort"
                title={t.table.sortBy(title)}
                onClick={({ shiftKey }) => change({ sort: formatSorting(nextSorting(sortings, id, shiftKey)) })}
              >
                {title}
                <span aria-hidden="true">{at < 0 ? "" : `${isDescending ? " ↓" : " ↑"}${place ?? ""}`}</span>
                {place === undefined ? null : <span className="visually-hidden">{t.table.sortPlace(place)}</span>}
              </button>
            </div>
          );
        })}
        {hasCopy ? (
          <div role="columnheader">
            <span className="visually-hidden">{t.common.copy}</span>
          </div>
        ) : null}
      </div>
    </div>
  );
}
