/** A test that may fail for some time. */
export interface Quarantined {
  /** Path of the test file. */
  readonly file: string;
  /** Its full name, as vitest prints it, without the file. */
  readonly test: string;
  /** The last day on which it may: `2026-12-24`. */
  readonly until: string;
  readonly reason: string;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** No test is left alone for longer. */
const MOST_DAYS = 30;

/**
 * Reads lines of `FILE > TEST | DATE | REASON`; empty ones and those that begin with `#` say nothing. What is wrong with a line, such as a day that is
 * past, is a problem: then the run fails, whatever else passes.
 */
export function readQuarantine(
  text: string,
  now: Date,
): { readonly quarantined: readonly Quarantined[]; readonly problems: readonly string[] } {
  const quarantined: Quarantined[] = [];
  const problems: string[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const where = `.ci/quarantine:${i + 1}`;
    const [, file = "", test = "", until = "", reason = ""] = /^(\S+) > (.+?) \| (\d{4}-\d\d-\d\d) \| (\S.*)$/.exec(line) ?? [];
    const end = Date.parse(`${until}T23:59:59Z`);
    if (file === "" || Number.isNaN(end)) problems.push(`${where}: must be "FILE > TEST | YYYY-MM-DD | REASON"`);
    else if (end < now.getTime())
      problems.push(`${where}: the quarantine of ${file} > ${test} ended on ${until}: mend the test (${reason})`);
    else if (end > now.getTime() + (MOST_DAYS + 1) * DAY_MS)
      problems.push(`${where}: ${until} is more than ${MOST_DAYS} days away: name an earlier day`);
    else quarantined.push({ file, test, until, reason });
  }
  return { quarantined, problems };
}
