import { useMemo } from "react";
import { lineDifference } from "../model/lineDifference.ts";
import { yamlText } from "../model/yamlLines.ts";
import { t } from "../strings.ts";

// What a browser lays out without a wait.
const MOST_LINES = 2_000;
const LONGEST_LINE = 2_000;

export interface DifferenceViewProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly label: string;
}

/** What changed of an object, as YAML with a sign before each line. */
export function DifferenceView({ before, after, label }: DifferenceViewProps) {
  const lines = useMemo(() => lineDifference(linesOf(before), linesOf(after)), [before, after]);
  return (
    <div className="yaml">
      <pre role="region" tabIndex={0} aria-label={label}>
        {lines.slice(0, MOST_LINES).map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <span key={i} className="yaml-line" data-sign={"sign" in line ? line.sign : "…"}>
            {"sign" in line ? `${line.sign} ${line.text.slice(0, LONGEST_LINE)}\n` : `  ${t.whatIf.unchanged(line.count)}\n`}
          </span>
        ))}
        {lines.length > MOST_LINES ? t.common.more(lines.length - MOST_LINES) : null}
      </pre>
    </div>
  );
}

function linesOf(value: unknown): readonly string[] {
  return value === undefined ? [] : yamlText(value).split("\n").slice(0, -1);
}
