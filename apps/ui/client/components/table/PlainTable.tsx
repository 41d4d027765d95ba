import { Fragment, type ReactNode } from "react";
import { visibleText } from "../../model/lines/visibleText.ts";

export interface PlainTableProps {
  readonly label: string;
  readonly headers: readonly string[];
  readonly rows: readonly PlainRow[];
}

export interface PlainRow {
  readonly key: string;
  readonly cells: readonly ReactNode[];
  /** Sentences about the row, in the whole width of the table; undefined: there are none. */
  readonly below?: ReactNode;
}

/** A short table within a page. */
export function PlainTable({ label, headers, rows }: PlainTableProps) {
  return (
    <div className="plain-table" role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {headers.map((header) => (
              <th key={header} scope="col">
                {visibleText(header)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells, below }) => (
            <Fragment key={key}>
              <tr>
                {cells.map((cell, i) => (
                  <td key={headers[i]}>{cell}</td>
                ))}
              </tr>
              {below === undefined ? null : (
                <tr className="row-below">
                  <td colSpan={headers.length}>
                    <div>{below}</div>
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}
