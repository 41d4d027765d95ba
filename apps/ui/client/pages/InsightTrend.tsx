import { useMemo } from "react";
import { useScope } from "../components/frame/useScope.ts";
import { Section } from "../components/Section.tsx";
import { useServerNow } from "../components/Times.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { useFleet } from "../data/store.ts";
import { spanText, timeText } from "../model/age.ts";
import { insightRecord, insightTrend, type TrendPoint } from "../model/insights/insightRecord.ts";
import { t } from "../strings.ts";

const WEEK_MS = 7 * 24 * 3_600_000;
const STEP_MS = 5_000;
const POINTS = 29;
const SEVERITIES = ["error", "warning", "info"] as const;
const [WIDTH, HEIGHT] = [560, 56];

/** How many insights there were in the last week, or since when that is known. */
export function InsightTrend() {
  const fleet = useFleet();
  const scope = useScope();
  const now = useServerNow();
  // So that nothing moves each second, and what has begun just now is counted.
  const until = Math.ceil(now / STEP_MS) * STEP_MS;
  const record = useMemo(() => insightRecord(fleet, scope), [fleet, scope]);
  const points = useMemo(() => insightTrend(record, { now: until, spanMs: WEEK_MS, points: POINTS }), [record, until]);
  if (fleet.source?.kind === "file") return null;
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return null;
  const isWhole = first.at <= until - WEEK_MS;
  return (
    <Section
      title={t.insights.trend}
      note={`${t.insights.trendWhy(spanText(now - first.at))}${isWhole ? "" : ` ${t.insights.trendStart(timeText(first.at, now))}`}`}
    >
      <Bars points={points} />
      <ul className="trend-legend">
        {SEVERITIES.map((severity) => (
          <li key={severity} data-severity={severity}>
            {t.insights.trendText(
              t.states[severity],
              first.counts[severity],
              last.counts[severity],
              Math.max(...points.map(({ counts }) => counts[severity])),
            )}
          </li>
        ))}
      </ul>
      <details>
        <summary>{t.insights.trendTable}</summary>
        <PlainTable
          label={t.insights.trend}
          headers={[t.insights.trendTime, ...SEVERITIES.map((severity) => t.states[severity])]}
          rows={points.map(({ at, counts }) => ({
            key: String(at),
            cells: [timeText(at, now), ...SEVERITIES.map((severity) => counts[severity])],
          }))}
        />
      </details>
    </Section>
  );
}

/** One bar for each time, errors at the bottom. What it shows is in words beside it. */
function Bars({ points }: { readonly points: readonly TrendPoint[] }) {
  const most = Math.max(1, ...points.map(({ counts }) => SEVERITIES.reduce((sum, severity) => sum + counts[severity], 0)));
  const width = WIDTH / points.length;
  return (
    <svg className="trend" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {points.map(({ at, counts }, i) => {
        let below = 0;
        return SEVERITIES.map((severity) => {
          const height = (counts[severity] / most) * HEIGHT;
          below += height;
          return height === 0 ? null : (
            <rect key={`${at} ${severity}`} data-severity={severity} x={i * width} y={HEIGHT - below} width={width - 2} height={height} />
          );
        });
      })}
    </svg>
  );
}
