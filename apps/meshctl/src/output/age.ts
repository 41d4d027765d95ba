/** How long ago a moment (RFC 3339) was, in one unit as kubectl does: `45s`, `10m`, `3h`, `12d`; undefined for what is no moment. */
export function ageText(moment: string, now: number): string | undefined {
  const then = Date.parse(moment);
  if (Number.isNaN(then)) return undefined;
  // A clock that is off by a little must not show a negative age.
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const [unit, length] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ["s", 1];
  return `${Math.floor(seconds / length)}${unit}`;
}

// From two of a unit on, as kubectl: 90 seconds are `90s`, and 47 hours `47h`.
const UNITS = [
  ["y", 365 * 86_400],
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
] as const;
