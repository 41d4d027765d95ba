import type { SessionEvent } from "@isthmus/console/wire";
import { readSessions } from "../../data/past.ts";
import { useFleetState } from "../../data/store.ts";
import { millisecondsOf, timeText } from "../../model/age.ts";
import { isInScope, type Scope } from "../../model/scope.ts";
import type { Tone } from "../../model/status.ts";
import { t } from "../../strings.ts";
import { Name } from "../Name.tsx";
import { Section } from "../Section.tsx";
import { StatusMark } from "../StatusMark.tsx";
import { useServerNow, When } from "../Times.tsx";
import { PlainTable } from "../table/PlainTable.tsx";
import { useAnswer } from "../useAnswer.ts";

const TONES: Readonly<Record<SessionEvent["what"], Tone>> = {
  added: "progress",
  connected: "good",
  disconnected: "bad",
  moved: "progress",
  resyncing: "progress",
  synced: "good",
  updated: "progress",
  removed: "unknown",
};
// More than anybody reads.
const MOST_EVENTS = 500;

/** What became of the agents of some clusters, the latest first: read again when the clock says that something has. */
export function SessionEvents({ clusters }: { readonly clusters: Scope }) {
  const { live } = useFleetState();
  const now = useServerNow();
  const key = JSON.stringify(
    (live.clock?.clusters ?? []).map(({ name, connected, phase, replica, version }) => [name, connected, phase, replica, version]),
  );
  const { value, problem } = useAnswer(readSessions, key);
  const since = millisecondsOf(value?.since);
  const events = (value?.events ?? []).filter(({ cluster }) => isInScope(clusters, [cluster])).reverse();
  const note =
    live.source?.kind === "file"
      ? t.debug.sessionsFile
      : since === undefined
        ? t.debug.sessionsUnknown
        : t.debug.sessionsWhy(timeText(since, now));
  return (
    <Section
      title={t.debug.sessions}
      note={problem === undefined ? (value === undefined ? t.common.loading : note) : t.debug.sessionsFailed(problem)}
    >
      {since !== undefined && events.length === 0 ? <p className="muted">{t.debug.sessionsNone}</p> : null}
      {events.length === 0 ? null : (
        <PlainTable
          label={t.debug.sessions}
          headers={[t.debug.time, t.columns.age, t.columns.cluster, t.debug.event, t.debug.detail]}
          rows={events.slice(0, MOST_EVENTS).map(({ at, cluster, what, detail }, i) => ({
            key: `${at} ${cluster} ${what} ${i}`,
            cells: [
              timeText(millisecondsOf(at) ?? 0, now),
              <When key="age" time={at} />,
              <Name key="cluster" text={cluster} />,
              <StatusMark key="event" status={{ tone: TONES[what], word: t.debug.events[what] }} />,
              detail === undefined ? "–" : <Name key="detail" text={detail} />,
            ],
          }))}
        />
      )}
      {events.length > MOST_EVENTS ? <p className="muted">{t.common.more(events.length - MOST_EVENTS)}</p> : null}
    </Section>
  );
}
