import { type CSSProperties, type MouseEvent, memo, useRef } from "react";
import { t } from "../../strings.ts";
import type { Column } from "./tableColumns.ts";

interface TableRowProps<R> {
  readonly row: R;
  readonly isGone: boolean;
  /** Whether it is shown beside the table. */
  readonly isOpen: boolean;
  readonly index: number;
  /** Pixels from the top of the table's body. */
  readonly start: number;
  readonly columns: readonly Column<R>[];
  readonly grid: CSSProperties;
  open(row: R): void;
  /** Offers what can be copied of the row; undefined: nothing of any row. */
  readonly copy: ((row: R) => void) | undefined;
}

/** One row; it pulses once when its values change, but for figures that change all the time. */
function Row<R>({ row, isGone, isOpen, index, start, columns, grid, open, copy }: TableRowProps<R>) {
  const last = useRef({ text: textOf(columns, row), changes: 0 });
  const text = textOf(columns, row);
  if (text !== last.current.text) last.current = { text, changes: last.current.changes + 1 };
  const { changes } = last.current;
  const onClick = ({ target, currentTarget }: MouseEvent<HTMLDivElement>): void => {
    const isControl = target instanceof Element && target.closest("a, button") !== null;
    const isSelecting = !(window.getSelection()?.isCollapsed ?? true) && currentTarget.contains(window.getSelection()?.anchorNode ?? null);
    if (!isControl && !isSelecting) open(row);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row does the same by keyboard
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      data-open={isOpen ? "" : undefined}
      aria-current={isOpen ? "true" : undefined}
      className={`table-row${isGone ? " gone" : ""}`}
      data-pulse={changes === 0 ? undefined : changes % 2 === 0 ? "a" : "b"}
      style={{ ...grid, transform: `translateY(${start}px)` }}
      onClick={onClick}
    >
      {columns.map((column, i) => (
        <div key={column.id} role="cell" className={column.isLong === true ? "long-cell" : undefined}>
          {column.cell(row)}
          {isGone && i === 0 ? <span className="chip">{t.table.gone}</span> : null}
        </div>
      ))}
      {copy === undefined ? null : (
        <div role="cell" className="copy-cell">
          <button
            type="button"
            className="row-copy"
            aria-label={t.common.copyOf(columns[0]?.text(row).slice(0, LONGEST_LABEL) ?? "")}
            title={t.table.copyRow}
            onClick={() => copy(row)}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <rect x="5" y="5" width="8" height="8" rx="1.5" />
              <path d="M3 11V4.5A1.5 1.5 0 0 1 4.5 3H11" />
            </svg>
          </button>
        </div>
      )}
    </div>
  );
}

const LONGEST_LABEL = 100;

function textOf<R>(columns: readonly Column<R>[], row: R): string {
  return columns
    .filter(({ isMeasured }) => isMeasured !== true)
    .map((column) => column.text(row))
    .join("\n");
}

export const TableRow = memo(Row) as typeof Row;
