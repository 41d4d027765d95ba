import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from "react";
import { isEmptyFilter, parseFilter, unknownKeyOf } from "../../model/lines/tokens.ts";
import { isInScope } from "../../model/scope.ts";
import { t } from "../../strings.ts";
import { Empty } from "../Empty.tsx";
import { ScopeNote } from "../frame/ScopeNote.tsx";
import { usePageSearch } from "../frame/usePageSearch.ts";
import { useScope } from "../frame/useScope.ts";
import { useWidth } from "../useWidth.ts";
import { FilterBar } from "./FilterBar.tsx";
import { TableHeader } from "./TableHeader.tsx";
import { TableRow } from "./TableRow.tsx";
import { type Column, gridOf, hiddenIds, matchesRow, sortedRows, sparedIds, tokenKeys } from "./tableColumns.ts";
import { useHeldOrder } from "./useHeldOrder.ts";
import { useRowKeys } from "./useRowKeys.ts";

export interface ResourceTableProps<R> {
  /** What the rows are, in the plural. */
  readonly what: string;
  readonly rows: readonly R[];
  keyOf(row: R): string;
  /** The clusters that a row is about; "" is the management cluster. Rows outside of the scope are left out. Module-level, as are columns. */
  clustersOf(row: R): readonly string[];
  /** Module-level, so that rows are filtered again only when something changed. */
  readonly columns: readonly Column<R>[];
  open(row: R): void;
  /** Shown when there is no row at all. */
  readonly empty: ReactNode;
  /** What is beside the table, where rows open there. */
  readonly panel?: TablePanel<R>;
  /** Offers what can be copied of a row, where rows are of objects. */
  copy?(row: R): void;
}

/** How a table sees what is shown beside it. */
export interface TablePanel<R> {
  readonly isShown: boolean;
  /** Whether that is this row. */
  isOf(row: R): boolean;
  focus(): void;
}

const ROW_PX = 38;

/** A table of any length: filter and order are in the address, rows stay where they are while somebody points at them. */
export function ResourceTable<R>({ what, rows, keyOf, clustersOf, columns, open, empty, panel, copy }: ResourceTableProps<R>) {
  const [{ q = "", sort, hide }] = usePageSearch();
  const filterText = useDeferredValue(q);
  const scope = useScope();
  const shown = useMemo(() => {
    const filter = parseFilter(filterText);
    const isAll = isEmptyFilter(filter);
    const within = scope.size === 0 ? rows : rows.filter((row) => isInScope(scope, clustersOf(row)));
    const matching = isAll ? [...within] : within.filter((row) => matchesRow(columns, filter, row));
    return new Map(sortedRows(matching, columns, sort).map((row) => [keyOf(row), row]));
  }, [rows, filterText, sort, columns, keyOf, clustersOf, scope]);

  const [isPointedAt, setIsPointedAt] = useState(false);
  const [isFocused, setIsFocused] = useState(false);
  const held = useHeldOrder(shown, isPointedAt || isFocused, `${filterText}\n${sort ?? ""}\n${[...scope].join()}`);
  const body = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: held.rows.length,
    getScrollElement: () => body.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    getItemKey: (index) => held.rows[index]?.key ?? index,
  });
  const opened = (index: number, isAgain: boolean): void => {
    const row = held.rows[index]?.row;
    if (row === undefined || panel === undefined) return;
    if (!panel.isOf(row)) open(row);
    else if (isAgain) panel.focus();
  };
  useRowKeys(
    {
      count: held.rows.length,
      scrollTo: (index) => virtualizer.scrollToIndex(index),
      current: () => {
        const index = panel?.isShown === true ? held.rows.findIndex(({ row }) => panel.isOf(row)) : -1;
        return index < 0 ? undefined : index;
      },
      ...(panel === undefined ? {} : { peek: (index: number) => opened(index, true) }),
      ...(copy === undefined
        ? {}
        : {
            copy: (index: number) => {
              const row = held.rows[index]?.row;
              if (row !== undefined) copy(row);
            },
          }),
      ...(panel?.isShown === true ? { moved: (index: number) => opened(index, false) } : {}),
    },
    body,
  );
  const [frame, width] = useWidth();
  const visible = useMemo(() => {
    const remPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    const hidden = [...hiddenIds(columns, hide), ...sparedIds(columns, { hide, width, remPx, hasCopy: copy !== undefined })];
    return columns.filter(({ id }) => !hidden.includes(id));
  }, [columns, hide, width, copy]);

  if (rows.length === 0) return <>{empty}</>;
  const grid = gridOf(visible, copy !== undefined);
  return (
    <div className="table-page" ref={frame}>
      <FilterBar what={what} columns={columns} chosen={visible} shown={[...shown.values()]} total={rows.length} />
      {/* It lies over the table: who points at it still holds the rows, or it would be gone before a click. */}
      <div
        className="table-notice"
        aria-live="polite"
        onPointerEnter={() => setIsPointedAt(true)}
        onPointerLeave={() => setIsPointedAt(false)}
      >
        {held.added > 0 || held.isReordered ? (
          <button type="button" className="button small" onClick={held.show}>
            {held.added > 0 ? t.table.newRows(held.added) : t.table.changedRows}
          </button>
        ) : null}
      </div>
      {held.rows.length === 0 ? (
        <NoMatch q={q} keys={tokenKeys(columns)} />
      ) : (
        <div
          ref={body}
          className="table"
          role="table"
          aria-label={what}
          aria-rowcount={held.rows.length + 1}
          onPointerEnter={() => setIsPointedAt(true)}
          onPointerLeave={() => setIsPointedAt(false)}
          onFocus={() => setIsFocused(true)}
          onBlur={({ currentTarget, relatedTarget }) => setIsFocused(currentTarget.contains(relatedTarget))}
        >
          <TableHeader columns={visible} grid={grid} hasCopy={copy !== undefined} />
          <div role="rowgroup" className="table-body" style={{ height: virtualizer.getTotalSize(), minWidth: grid.minWidth }}>
            {virtualizer.getVirtualItems().map(({ index, key, start }) => {
              const item = held.rows[index];
              return item === undefined ? null : (
                <TableRow
                  key={key}
                  row={item.row}
                  isGone={item.isGone}
                  index={index}
                  start={start}
                  columns={visible}
                  isOpen={panel?.isOf(item.row) === true}
                  grid={grid}
                  open={open}
                  copy={copy}
                />
              );
            })}
          </div>
        </div>
      )}
    </div>
  );
}

/** That nothing matches a filter, and which of its keys there is none of. */
export function NoMatch({ q, keys }: { readonly q: string; readonly keys: readonly string[] }) {
  const [, change] = usePageSearch();
  const scope = useScope();
  const unknown = unknownKeyOf(parseFilter(q), keys);
  return (
    <Empty title={t.table.noMatch}>
      {unknown === undefined ? null : <p>{t.table.unknownKey(unknown, keys)}</p>}
      {q === "" ? null : (
        <button type="button" className="button" onClick={() => change({ q: undefined })}>
          {t.common.clear}
        </button>
      )}
      {scope.size === 0 ? null : <ScopeNote scope={scope} />}
    </Empty>
  );
}
