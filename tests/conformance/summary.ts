import type { ConformanceResult } from "./cases.ts";
import type { Difference } from "./compare.ts";

// A case that is wrong throughout would hide the others.
const SHOWN = 12;

/** The results as a table, with what failed under each case, and the totals on the last line. */
export function summary(results: readonly ConformanceResult[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const rows = results.flatMap((result) => {
    const { name, stage, failures, deliberate } = result;
    const reasons = deliberate.map(({ path, decision, reason }) => `    ${path}: ${reason} (${decision})`);
    const shown = failures.slice(0, SHOWN).map((failure) => `    ${formatDifference(failure)}`);
    const more = failures.length > SHOWN ? [`    and ${failures.length - SHOWN} more`] : [];
    return [`${name.padEnd(width)}  ${stage.padEnd(10)}  ${verdict(result)}`, ...reasons, ...shown, ...more];
  });
  const count = (wanted: string) => results.filter((result) => verdict(result) === wanted).length;
  return [...rows, `${count(EQUAL)} equal, ${count(DELIBERATE)} different by decision, ${count(FAILED)} failed`].join("\n");
}

const [EQUAL, DELIBERATE, FAILED] = ["equal", "different by decision", "FAILED"];

function verdict({ failures, deliberate }: ConformanceResult): string {
  if (failures.length > 0) return FAILED;
  return deliberate.length > 0 ? DELIBERATE : EQUAL;
}

/** One difference on one line. */
export function formatDifference({ path, expected, actual }: Difference): string {
  return `${path}: expected ${JSON.stringify(expected) ?? "nothing"}, got ${JSON.stringify(actual) ?? "nothing"}`;
}
