import { t } from "../strings.ts";
import { Name } from "./Name.tsx";

const MOST_NAMES = 5;

/** Some names, one below the other, and how many more there are. */
export function NameList({ names }: { readonly names: readonly string[] }) {
  return (
    <span className="stack">
      {names.slice(0, MOST_NAMES).map((name) => (
        <Name key={name} text={name} isWrapped />
      ))}
      {names.length > MOST_NAMES ? <span className="muted">{t.common.more(names.length - MOST_NAMES)}</span> : null}
    </span>
  );
}
