/** How long ago a moment was, as kubectl writes ages. Source: apimachinery, pkg/util/duration/duration.go. */
export function ageSince(time: unknown, now: number): string {
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? "<unknown>" : humanDuration(now - at);
}

/** A duration of milliseconds in at most two units. */
export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return two(days, "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return hours < 24 * 365 * 8 ? two(years, "y", days % 365, "d") : `${years}y`;
}

function two(a: number, unitA: string, b: number, unitB: string): string {
  return b === 0 ? `${a}${unitA}` : `${a}${unitA}${b}${unitB}`;
}
