const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** A span of milliseconds in its largest unit, as kubectl prints ages: `4 s`, `12 min`, `7 h`, `3 d`. */
export function spanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`;
  if (span < 2 * DAY) return `${Math.floor(span / HOUR)} h`;
  return `${Math.floor(span / DAY)} d`;
}

/** Milliseconds since 1970 of a time in ISO 8601; undefined for what is none. */
export function millisecondsOf(time: string | null | undefined): number | undefined {
  const ms = time ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** The time of day of a moment, with its date when it is not of the day of `now`. Both in milliseconds since 1970. */
export function timeText(ms: number, now: number): string {
  const [then, today] = [new Date(ms), new Date(now)];
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return then.toDateString() === today.toDateString()
    ? time
    : `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })} ${time}`;
}
