import { useEffect, useMemo, useRef } from "react";
import { type FieldLines, fieldLines } from "../model/lines/fieldLines.ts";
import { yamlLines, yamlText } from "../model/lines/yamlLines.ts";
import { t } from "../strings.ts";
import { CopyButton } from "./CopyButton.tsx";
import { YamlLineText } from "./YamlLineText.tsx";

// What a browser lays out without a wait; the copy has all of it.
const MOST_LINES = 5_000;

export interface YamlViewProps {
  readonly value: unknown;
  readonly label: string;
  /** A field whose lines are highlighted, and brought into view. */
  readonly field?: string | undefined;
}

/** An object as YAML, to read and copy. */
export function YamlView({ value, label, field }: YamlViewProps) {
  const lines = useMemo(() => yamlLines(value), [value]);
  const found = useMemo(() => (field === undefined ? undefined : fieldLines(value, field)), [value, field]);
  const first = useRef<HTMLSpanElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each field that is looked for
  useEffect(() => {
    // Gives a promise where browsers have that.
    void first.current?.scrollIntoView({ block: "center" });
  }, [field]);
  return (
    <div className="yaml">
      <div className="yaml-bar">
        <CopyButton text={yamlText(value)} what={t.objects.copyYaml} />
      </div>
      <pre role="region" tabIndex={0} aria-label={label}>
        {lines.slice(0, MOST_LINES).map(({ indent, key, value: text }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <span key={i} className="yaml-line" ref={i === found?.from ? first : undefined} data-found={isWithin(i, found) || undefined}>
            <YamlLineText indent={indent} name={key} value={text} />
          </span>
        ))}
        {lines.length > MOST_LINES ? t.common.more(lines.length - MOST_LINES) : null}
      </pre>
    </div>
  );
}

function isWithin(i: number, found: FieldLines | undefined): boolean {
  return found !== undefined && i >= found.from && i < found.to;
}
