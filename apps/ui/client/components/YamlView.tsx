import { useMemo } from "react";
import { yamlLines, yamlText } from "../model/yamlLines.ts";
import { t } from "../strings.ts";
import { CopyButton } from "./CopyButton.tsx";

// What a browser lays out without a wait; the copy has all of it.
const MOST_LINES = 5_000;
const LONGEST_VALUE = 4_000;

/** An object as YAML, to read and copy. */
export function YamlView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const lines = useMemo(() => yamlLines(value), [value]);
  return (
    <div className="yaml">
      <div className="yaml-bar">
        <CopyButton text={yamlText(value)} what={t.objects.copyYaml} />
      </div>
      <pre role="region" tabIndex={0} aria-label={label}>
        {lines.slice(0, MOST_LINES).map(({ indent, key, value: text }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <span key={i} className="yaml-line">
            {indent}
            <span className="yaml-key">{key}</span>
            {key !== "" && text !== "" ? " " : ""}
            {text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text}
            {"\n"}
          </span>
        ))}
        {lines.length > MOST_LINES ? t.common.more(lines.length - MOST_LINES) : null}
      </pre>
    </div>
  );
}
