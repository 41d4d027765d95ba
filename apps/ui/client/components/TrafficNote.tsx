import { useFleet } from "../data/store.ts";
import { millisecondsOf, spanText, timeText } from "../model/age.ts";
import { type TrafficMinutes, trafficState } from "../model/topology/traffic.ts";
import { t } from "../strings.ts";
import { Name } from "./Name.tsx";
import { useServerNow } from "./Times.tsx";

export interface TrafficNoteProps {
  readonly clusters: readonly string[];
  readonly minutes: TrafficMinutes;
}

/** Of which time the activity of some clusters are, and why some have none; what is old is marked as such. */
export function TrafficNote({ clusters, minutes }: TrafficNoteProps) {
  const fleet = useFleet();
  const now = useServerNow();
  if (fleet.past !== undefined) return <p className="note">{t.traffic.past}</p>;
  const lines = new Map<string, Line & { readonly clusters: string[] }>();
  for (const cluster of clusters) {
    const line = lineOf(trafficState(fleet, cluster, { minutes, now }), { minutes, now, isPartial: fleet.viewer?.isPartial === true });
    const same = lines.get(line.text) ?? { ...line, clusters: [] };
    same.clusters.push(cluster || t.common.management);
    lines.set(line.text, same);
  }
  return (
    <ul className="traffic-note" aria-label={t.traffic.title}>
      {[...lines.values()].map(({ text, isStale, clusters: of }) => (
        <li key={text} className={isStale ? "stale" : "note"}>
          <Name text={clusters.length === of.length ? text : t.traffic.cluster(of.join(", "), text)} isWrapped />
        </li>
      ))}
    </ul>
  );
}

interface Line {
  readonly text: string;
  readonly isStale: boolean;
}

interface About {
  readonly minutes: number;
  readonly now: number;
  /** Whether something may be left out for who reads it. */
  readonly isPartial: boolean;
}

function lineOf(state: ReturnType<typeof trafficState>, { minutes, now, isPartial }: About): Line {
  if (state.known === "never") {
    const nobody = isPartial ? t.traffic.neverOrHidden : `${t.traffic.never} ${t.traffic.howTo}`;
    return { text: state.reason === "" ? nobody : t.traffic.neverWhy(state.reason), isStale: false };
  }
  const time = timeText(millisecondsOf(state.at) ?? 0, now);
  if (state.known === "stale") return { text: t.traffic.stale(time), isStale: true };
  return { text: t.traffic.counted(spanText(state.seconds * 1_000), t.traffic.minutes(minutes), time), isStale: false };
}
