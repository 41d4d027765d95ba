import { Link } from "@tanstack/react-router";
import type { SeverityCounts } from "../model/insights/insightIndex.ts";
import type { Status } from "../model/status.ts";
import { t } from "../strings.ts";
import { StatusMark, ToneShape } from "./StatusMark.tsx";

const STATUSES = {
  error: { tone: "bad", word: t.states.error },
  warning: { tone: "warning", word: t.states.warning },
  info: { tone: "unknown", word: t.states.info },
} as const satisfies Readonly<Record<string, Status>>;

/** How much an insight weighs. */
export function Severity({ severity }: { readonly severity: keyof typeof STATUSES }) {
  return <StatusMark status={STATUSES[severity]} />;
}

/** How many insights there are of each severity; a link to them where `query` says which. */
export function SeverityTotals({ counts, query }: { readonly counts: SeverityCounts; readonly query?: string }) {
  const shown = (["error", "warning", "info"] as const).filter((severity) => counts[severity] > 0);
  if (shown.length === 0) return <span className="muted">–</span>;
  const totals = shown.map((severity) => (
    <span key={severity} className="status" data-tone={STATUSES[severity].tone}>
      <ToneShape tone={STATUSES[severity].tone} />
      <span>{counts[severity]}</span>
      <span className="visually-hidden"> {STATUSES[severity].word} </span>
    </span>
  ));
  return query === undefined ? (
    <span className="totals">{totals}</span>
  ) : (
    <Link className="totals" to="/insights" search={{ q: query }}>
      {totals}
    </Link>
  );
}
