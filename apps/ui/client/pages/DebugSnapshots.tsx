import { messageOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useScope } from "../components/frame/useScope.ts";
import { Name } from "../components/Name.tsx";
import { PartialNote } from "../components/PartialNote.tsx";
import { Section } from "../components/Section.tsx";
import { save } from "../components/save.ts";
import { useServerNow } from "../components/Times.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { useAnswer } from "../components/useAnswer.ts";
import { readChanges, readPast } from "../data/past.ts";
import { useFleetState } from "../data/store.ts";
import { timeText } from "../model/age.ts";
import { momentGrid, shadeOf } from "../model/history/momentGrid.ts";
import { savedFleet } from "../model/history/savedFleet.ts";
import { t } from "../strings.ts";

// As many as fit beside each other.
const MOST_CLUSTERS = 12;

/** The moments that the server remembers by how much changed in each cluster: to show one, to save it, to compare two. */
export function DebugSnapshots() {
  const { live } = useFleetState();
  const now = useServerNow();
  const scope = useScope();
  const [round, setRound] = useState(0);
  const [from, setFrom] = useState<string>();
  const [until, setUntil] = useState<string>();
  const [failed, setFailed] = useState<string>();
  const { value, problem } = useAnswer(readChanges, String(round));
  const grid = useMemo(() => momentGrid(value ?? { moments: [] }, scope, MOST_CLUSTERS), [value, scope]);
  if (live.source?.kind === "file") return <p className="muted">{t.debug.gridFile}</p>;
  const none = value === undefined ? t.common.loading : grid.rows.length === 0 ? t.debug.gridNone : t.debug.gridWhy;
  const download = (at: string): void => {
    setFailed(undefined);
    readPast(at, new AbortController().signal).then(
      (fleet) => save(`fleet-${at.replaceAll(":", "-")}.json`, savedFleet(fleet)),
      (error: unknown) => setFailed(t.debug.downloadFailed(messageOf(error))),
    );
  };
  const radio = (
    group: string,
    [chosen, choose]: readonly [string | undefined, (at: string | undefined) => void],
    at: string | undefined,
  ) => (
    <input
      key={group}
      type="radio"
      name={group}
      checked={chosen === at}
      aria-label={(group === "from" ? t.debug.fromOf : t.debug.untilOf)(at === undefined ? t.debug.now : timeText(Date.parse(at), now))}
      onChange={() => choose(at)}
    />
  );
  const isChosen = from !== undefined && from !== until && (until === undefined || from < until);
  return (
    <Section title={t.debug.grid} note={problem === undefined ? none : t.debug.gridFailed(problem)}>
      <PartialNote text="compared" />
      <p className="inline">
        {isChosen ? (
          <Link className="button" to="/changes" search={{ at: from, ...(until === undefined ? {} : { until }) }}>
            {t.debug.compare}
          </Link>
        ) : from === undefined ? null : (
          <span className="muted">{t.debug.compareSame}</span>
        )}
        <button type="button" className="button" onClick={() => setRound(round + 1)}>
          {t.debug.gridAgain}
        </button>
      </p>
      {failed === undefined ? null : <p role="alert">{failed}</p>}
      {grid.rows.length === 0 ? null : (
        <PlainTable
          label={t.debug.grid}
          headers={[
            t.debug.time,
            t.debug.from,
            t.debug.until,
            ...grid.clusters.map((name) => (name === "" ? t.common.management : name)),
            ...(grid.hasOthers ? [t.debug.others] : []),
            t.debug.actions,
          ]}
          rows={[
            {
              key: "now",
              cells: [
                t.debug.now,
                "",
                radio("until", [until, setUntil], undefined),
                ...grid.clusters.map(() => ""),
                ...(grid.hasOthers ? [""] : []),
                "",
              ],
            },
            ...grid.rows.map(({ at, counts, others, isFirst }) => ({
              key: at,
              cells: [
                timeText(Date.parse(at), now),
                radio("from", [from, setFrom], at),
                radio("until", [until, setUntil], at),
                ...counts.map((count, i) => <Cell key={grid.clusters[i]} count={count} isFirst={isFirst} />),
                ...(grid.hasOthers ? [<Cell key="others" count={others} isFirst={isFirst} />] : []),
                <span key="actions" className="inline">
                  <Link to="/" search={{ at }}>
                    {t.debug.show}
                  </Link>
                  <Link to="/policies/what-if" search={{ at }}>
                    {t.debug.whatIf}
                  </Link>
                  <button
                    type="button"
                    className="button small"
                    aria-label={t.debug.downloadOf(timeText(Date.parse(at), now))}
                    title={t.debug.downloadWhy}
                    onClick={() => download(at)}
                  >
                    {t.debug.download}
                  </button>
                </span>,
              ],
            })),
          ]}
        />
      )}
    </Section>
  );
}

function Cell({ count, isFirst }: { readonly count: number; readonly isFirst: boolean }) {
  if (isFirst) return <span className="muted">{t.debug.first}</span>;
  return (
    <span className="shade" data-shade={shadeOf(count)}>
      {count === 0 ? "·" : <Name text={String(count)} />}
    </span>
  );
}
