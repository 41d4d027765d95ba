import type { CSSProperties } from "react";
import { formatSorting, parseSorting } from "../model/sorting.ts";
import { t } from "../strings.ts";
import type { Column } from "./tableColumns.ts";
import { usePageSearch } from "./usePageSearch.ts";

export interface TableHeaderProps<R> {
  readonly columns: readonly Column<R>[];
  readonly grid: CSSProperties;
}

/** The titles of a table's columns: each sorts by its column, then the other way round, then not at all. */
export function TableHeader<R>({ columns, grid }: TableHeaderProps<R>) {
  const [{ sort }, change] = usePageSearch();
  const sorting = parseSorting(sort);
  const next = (id: string): string | undefined => {
    if (sorting?.column !== id) return formatSorting({ column: id, isDescending: false });
    return sorting.isDescending ? undefined : formatSorting({ column: id, isDescending: true });
  };
  return (
    <div role="rowgroup" className="table-head">
      <div role="row" className="table-row" style={grid} aria-rowindex={1}>
        {columns.map(({ id, title }) => {
          const isSorted = sorting?.column === id;
          const order = sorting?.isDescending ? "descending" : "ascending";
          return (
            <div key={id} role="columnheader" aria-sort={isSorted ? order : "none"}>
              <button type="button" className="sort" title={t.table.sortBy(title)} onClick={() => change({ sort: next(id) })}>
                {title}
                <span aria-hidden="true">{isSorted ? (sorting.isDescending ? " ↓" : " ↑") : ""}</span>
              </button>
            </div>
          );
        })}
      </div>
    </div>
  );
}
