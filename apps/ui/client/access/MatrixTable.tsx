import type { AccessEvaluator } from "@isthmus/translators";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { Name } from "../components/Name.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { formatFilter } from "../model/lines/tokens.ts";
import { t } from "../strings.ts";
import { type AccessAxes, type CellVerdict, cellVerdict, otherCallersVerdict } from "./accessMatrix.ts";
import { verdictStatus } from "./verdictStatus.ts";

// More cells than these nobody reads; a filter shows others.
const [MOST_ROWS, MOST_COLUMNS] = [40, 16];

export interface MatrixTableProps {
  readonly evaluator: AccessEvaluator;
  readonly axes: AccessAxes;
  readonly isByNamespace: boolean;
}

/** Who may call what: callers below each other, what they call beside each other. */
export function MatrixTable({ evaluator, axes, isByNamespace }: MatrixTableProps) {
  const { rows, columns, cells, others } = useMemo(() => matrixOf(evaluator, axes), [evaluator, axes]);
  const closed = columns.filter((_, i) => others[i] === "DENIED" && cells.every((row) => row[i] === "DENIED" || row[i] === "UNREACHABLE"));
  return (
    <>
      <p className="note">
        {closed.length === 0 ? t.access.noneClosed : t.access.closed(closed.map(({ name }) => name).join(", "), closed.length)}
      </p>
      <div className="plain-table access-matrix" role="group" aria-label={t.access.matrix} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.access.from}</th>
              {columns.map(({ name }) => (
                <th key={name} scope="col">
                  <PlaceName name={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={row.name}>
                <th scope="row">
                  <PlaceName name={row.name} />
                </th>
                {columns.map((column, j) => (
                  <td key={column.name}>
                    <Cell verdict={cells[i]?.[j]} from={row.name} to={column.name} isByNamespace={isByNamespace} />
                  </td>
                ))}
              </tr>
            ))}
            <tr>
              <th scope="row">{t.access.others}</th>
              {columns.map((column, j) => (
                <td key={column.name}>
                  <Verdict verdict={others[j]} />
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
      {axes.rows.length > rows.length || axes.columns.length > columns.length ? (
        <p className="note">{t.access.cut(axes.rows.length - rows.length, axes.columns.length - columns.length)}</p>
      ) : null}
    </>
  );
}

interface Matrix extends AccessAxes {
  readonly cells: readonly (readonly (CellVerdict | undefined)[])[];
  /** Of each column, for callers that no object names. */
  readonly others: readonly (CellVerdict | undefined)[];
}

function matrixOf(evaluator: AccessEvaluator, axes: AccessAxes): Matrix {
  const rows = axes.rows.slice(0, MOST_ROWS);
  const columns = axes.columns.slice(0, MOST_COLUMNS);
  return {
    rows,
    columns,
    cells: rows.map((row) => columns.map((column) => cellVerdict(evaluator, row, column))),
    others: columns.map((column) => otherCallersVerdict(evaluator, column)),
  };
}

/** The last part of a name, with where it is below it. */
function PlaceName({ name }: { readonly name: string }) {
  const parts = name.split("/");
  const last = parts.pop() ?? "";
  return (
    <span className="stack">
      <Name text={last} />
      <span className="muted">
        <Name text={parts.join("/")} />
      </span>
    </span>
  );
}

interface CellProps {
  readonly verdict: CellVerdict | undefined;
  readonly from: string;
  readonly to: string;
  readonly isByNamespace: boolean;
}

function Cell({ verdict, from, to, isByNamespace }: CellProps) {
  const [{ policy }] = usePageSearch();
  if (verdict === undefined) return <Verdict verdict={verdict} />;
  const kept = policy === undefined ? {} : { policy };
  const q = formatFilter({
    tokens: [
      { key: "from", values: [from] },
      { key: "to", values: [to] },
    ],
    words: [],
  });
  return (
    <Link
      to="/access"
      search={isByNamespace ? { ...kept, view: "services", q } : { ...kept, view: "services", from, to }}
      resetScroll={isByNamespace}
    >
      <Verdict verdict={verdict} />
      <span className="visually-hidden">{` ${from} → ${to}`}</span>
    </Link>
  );
}

function Verdict({ verdict }: { readonly verdict: CellVerdict | undefined }) {
  return verdict === undefined ? <span className="muted">–</span> : <StatusMark status={verdictStatus(verdict, true)} />;
}
