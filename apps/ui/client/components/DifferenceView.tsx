import { useMemo } from "react";
import { lineDifference, sideBySide } from "../model/lines/lineDifference.ts";
import { yamlText } from "../model/lines/yamlLines.ts";
import { t } from "../strings.ts";
import { usePageSearch } from "./frame/usePageSearch.ts";

// What a browser lays out without a wait.
const MOST_LINES = 2_000;
const LONGEST_LINE = 2_000;

export interface DifferenceViewProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly label: string;
  /** What the two sides are called. Default: before, after. */
  readonly sides?: readonly [string, string];
}

const SIDES = [t.whatIf.before, t.whatIf.after] as const;

/** What changed of an object, as YAML with a sign before each line: one below the other, or side by side, as the address says. */
export function DifferenceView({ before, after, label, sides = SIDES }: DifferenceViewProps) {
  const lines = useMemo(() => lineDifference(linesOf(before), linesOf(after)), [before, after]);
  const [{ diff }, change] = usePageSearch();
  const isSplit = diff === "split";
  return (
    <div className="yaml">
      <div className="yaml-bar">
        <button
          type="button"
          className="button small"
          aria-pressed={isSplit}
          onClick={() => change({ diff: isSplit ? undefined : "split" })}
        >
          {t.whatIf.sideBySide}
        </button>
      </div>
      {isSplit ? <SideBySide lines={lines} label={label} sides={sides} /> : <Unified lines={lines} label={label} />}
    </div>
  );
}

type Lines = ReturnType<typeof lineDifference>;

/** All changes one below the other. */
function Unified({ lines, label }: { readonly lines: Lines; readonly label: string }) {
  return (
    <pre role="region" tabIndex={0} aria-label={label}>
      {lines.slice(0, MOST_LINES).map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <span key={i} className="yaml-line" data-sign={"sign" in line ? line.sign : "…"}>
          {"sign" in line ? `${line.sign} ${line.text.slice(0, LONGEST_LINE)}\n` : `  ${t.whatIf.unchanged(line.count)}\n`}
        </span>
      ))}
      {lines.length > MOST_LINES ? t.common.more(lines.length - MOST_LINES) : null}
    </pre>
  );
}

/** What was beside what is. */
function SideBySide({ lines, label, sides }: { readonly lines: Lines } & Required<Pick<DifferenceViewProps, "label" | "sides">>) {
  const pairs = useMemo(() => sideBySide(lines), [lines]);
  return (
    <div className="yaml-sides" role="region" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {sides.map((side) => (
              <th key={side} scope="col">
                {side}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pairs.slice(0, MOST_LINES).map((pair, i) =>
            "count" in pair ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
              <tr key={i}>
                <td colSpan={2} className="muted">
                  {t.whatIf.unchanged(pair.count)}
                </td>
              </tr>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
              <tr key={i}>
                <Side text={pair.before} sign={pair.isChanged ? "-" : " "} />
                <Side text={pair.after} sign={pair.isChanged ? "+" : " "} />
              </tr>
            ),
          )}
        </tbody>
      </table>
      {pairs.length > MOST_LINES ? <p className="muted">{t.common.more(pairs.length - MOST_LINES)}</p> : null}
    </div>
  );
}

function Side({ text, sign }: { readonly text: string | undefined; readonly sign: string }) {
  return (
    <td className="yaml-line" data-sign={text === undefined ? "none" : sign}>
      {text === undefined ? "" : `${sign} ${text.slice(0, LONGEST_LINE)}`}
    </td>
  );
}

function linesOf(value: unknown): readonly string[] {
  return value === undefined ? [] : yamlText(value).split("\n").slice(0, -1);
}
