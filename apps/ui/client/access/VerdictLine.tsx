import type { Verdict } from "@isthmus/translators";
import { Link } from "@tanstack/react-router";
import type { PageSearch } from "../components/frame/usePageSearch.ts";
import { Name } from "../components/Name.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { formatFilter } from "../model/lines/tokens.ts";
import { t } from "../strings.ts";
import type { ClosedTargets, VerdictGroups } from "./accessCounts.ts";
import { verdictStatus } from "./verdictStatus.ts";

// More nobody reads here; the matrix has all.
const MOST_NAMES = 50;
const ORDER: readonly Verdict[] = ["ALLOWED", "RESTRICTED", "UNKNOWN", "DENIED", "UNREACHABLE"];

export interface VerdictLineProps {
  readonly title: string;
  /** Undefined: not known yet, or not at all. */
  readonly found: VerdictGroups | undefined;
  readonly side: "from" | "to";
  /** Of the caller, or of what is called, as the page Access names it. */
  readonly name: string;
}

/** How many there are of each verdict, with their names. */
export function VerdictLine({ title, found, side, name }: VerdictLineProps) {
  if (found === undefined || found.known === 0) {
    return (
      <p className="muted">
        {title}: {t.access.noAnswer}
      </p>
    );
  }
  const groups = ORDER.flatMap((verdict) => {
    const names = found.groups.get(verdict) ?? [];
    return names.length === 0 ? [] : [{ verdict, names }];
  });
  const search: PageSearch = { view: "services", q: formatFilter({ tokens: [{ key: side, values: [name] }], words: [] }) };
  return (
    <details className="access-line">
      <summary>
        <span className="inline">
          <span>
            {t.access.ofAll(
              title,
              found.groups.get("ALLOWED")?.length ?? 0,
              side === "from" ? t.access.targets(found.known) : t.access.callers(found.known),
            )}
          </span>
          {groups
            .filter(({ verdict }) => verdict !== "ALLOWED")
            .map(({ verdict, names }) => (
              <span key={verdict} className="muted">{`${names.length} ${t.access.verdicts[verdict].toLowerCase()}`}</span>
            ))}
        </span>
      </summary>
      {groups.map(({ verdict, names }) => (
        <div key={verdict} className="stack">
          <StatusMark status={verdictStatus(verdict)} />
          <Names names={names} />
        </div>
      ))}
      {found.unasked === 0 ? null : <p className="note">{t.access.unasked(found.unasked)}</p>}
      <p>
        <Link to="/access" search={search}>
          {t.access.matrix}
        </Link>
      </p>
    </details>
  );
}

/** The services that nobody may call. */
export function ClosedList({ found: { closed, known, unasked } }: { readonly found: ClosedTargets }) {
  if (known + unasked === 0) return <p className="muted">{t.access.noAnswer}</p>;
  const note = unasked === 0 ? null : <p className="note">{t.access.unasked(unasked)}</p>;
  if (closed.length === 0) {
    return (
      <>
        <p>{t.access.closedNone(known)}</p>
        {note}
      </>
    );
  }
  return (
    <>
      <details className="access-line">
        <summary>{t.access.closedCount(closed.length, known)}</summary>
        <ul className="links">
          {closed.slice(0, MOST_NAMES).map((name) => (
            <li key={name}>
              <Link
                to="/access"
                search={{ view: "services", q: formatFilter({ tokens: [{ key: "to", values: [name] }], words: [] }) } satisfies PageSearch}
              >
                <Name text={name} />
              </Link>
            </li>
          ))}
        </ul>
        {closed.length > MOST_NAMES ? <p className="note">{t.common.more(closed.length - MOST_NAMES)}</p> : null}
      </details>
      {note}
    </>
  );
}

function Names({ names }: { readonly names: readonly string[] }) {
  return (
    <ul className="access-names">
      {names.slice(0, MOST_NAMES).map((name) => (
        <li key={name}>
          <Name text={name} />
        </li>
      ))}
      {names.length > MOST_NAMES ? <li className="muted">{t.common.more(names.length - MOST_NAMES)}</li> : null}
    </ul>
  );
}
