import { expect, it } from "vitest";
import { readQuarantine } from "./quarantine.ts";

const now = new Date("2026-11-29T12:00:00Z");
const line = (until: string) => `tests/real/drift.test.ts > drift is mended | ${until} | its wait is too short`;

it("lets a test fail until the end of a day", () => {
  const { quarantined, problems } = readQuarantine(`# a comment\n\n${line("2026-11-29")}\n`, now);
  expect(problems).toEqual([]);
  expect(quarantined).toEqual([
    { file: "tests/real/drift.test.ts", test: "drift is mended", until: "2026-11-29", reason: "its wait is too short" },
  ]);
});

it("fails by a day that is past or far away, and by a line without a reason", () => {
  expect(readQuarantine(line("2026-11-28"), now)).toEqual({
    quarantined: [],
    problems: [
      expect.stringContaining(".ci/quarantine:1: the quarantine of tests/real/drift.test.ts > drift is mended ended on 2026-11-28"),
    ],
  });
  expect(readQuarantine(line("2027-03-01"), now).problems).toEqual([expect.stringContaining("name an earlier day")]);
  for (const wrong of ["tests/a.test.ts > b | 2026-12-01 |", "tests/a.test.ts | 2026-12-01 | reason", line("2026-13-45")])
    expect(readQuarantine(wrong, now).problems, wrong).toEqual([expect.stringContaining('must be "FILE > TEST | YYYY-MM-DD | REASON"')]);
});
