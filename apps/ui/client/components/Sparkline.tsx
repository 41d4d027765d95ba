import { rateText } from "../model/topology/trafficText.ts";
import { t } from "../strings.ts";

export interface SparklineProps {
  /** Requests and failed requests a second at some moments, in turns, oldest first. */
  readonly series: ArrayLike<number>;
  /** Beside a number: narrow, and nothing where there is no line. */
  readonly isSmall?: boolean;
}

// As in the coordinates of the drawing; how large it is shown, its style says.
const [WIDTH, HEIGHT] = [90, 20];

/** How many requests there were, as a line, and how many of them failed, as an area below it. One moment alone is no line. */
export function Sparkline({ series, isSmall = false }: SparklineProps) {
  const count = Math.floor(series.length / 2);
  if (count < 2) return isSmall ? null : <span className="muted">–</span>;
  const at = (i: number, part: 0 | 1) => series[2 * i + part] ?? 0;
  const moments = Array.from({ length: count }, (_, i) => i);
  const most = Math.max(...moments.map((i) => at(i, 0)));
  const point = (i: number, part: 0 | 1) => {
    const y = most === 0 ? 0 : at(i, part) / most;
    return `${((i / (count - 1)) * WIDTH).toFixed(1)},${(HEIGHT - 1 - y * (HEIGHT - 2)).toFixed(1)}`;
  };
  const points = (part: 0 | 1) => moments.map((i) => point(i, part)).join(" ");
  const hasErrors = moments.some((i) => at(i, 1) > 0);
  const now = t.traffic.sparkline(
    rateText(at(0, 0)),
    rateText(at(count - 1, 0)),
    rateText(most),
    rateText(Math.max(...moments.map((i) => at(i, 1)))),
  );
  return (
    <svg
      className="sparkline"
      data-small={isSmall}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={now}
    >
      <title>{now}</title>
      {hasErrors ? <polygon points={`0,${HEIGHT} ${points(1)} ${WIDTH},${HEIGHT}`} /> : null}
      <polyline points={points(0)} />
    </svg>
  );
}
