import type { ReactNode } from "react";
import { visibleText } from "../model/visibleText.ts";

export interface PlainTableProps {
  readonly label: string;
  readonly headers: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
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
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, i) => (
                <td key={headers[i]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
