import { type CSSProperties, type MouseEvent, memo, useRef } from "react";
import { t } from "../strings.ts";
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
}

/** One row; it pulses once when its values change. */
function Row<R>({ row, isGone, isOpen, index, start, columns, grid, open }: TableRowProps<R>) {
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
        <div key={column.id} role="cell">
          {column.cell(row)}
          {isGone && i === 0 ? <span className="chip">{t.table.gone}</span> : null}
        </div>
      ))}
    </div>
  );
}

function textOf<R>(columns: readonly Column<R>[], row: R): string {
  return columns.map((column) => column.text(row)).join("\n");
}

export const TableRow = memo(Row) as typeof Row;
