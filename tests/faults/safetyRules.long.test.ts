import { sampled } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { scheduleThatNoticed } from "./noticed.ts";
import { seedOfRun } from "./random.ts";
import { drawSchedule, runSchedule, USUAL_LENGTH } from "./schedule.ts";
import { tamperings } from "./tamperings.ts";

// Where a rule is switched off, so many schedules that dwell on it must be enough to notice.
const ENOUGH = 150;

describe("a safety rule that is switched off is noticed", () => {
  for (const [name, { rule, focus, length = USUAL_LENGTH, by }] of sampled(Object.entries(tamperings))) {
    test(`rule ${rule}: ${name}`, { timeout: 1_200_000 }, async () => {
      const kept = scheduleThatNoticed(name);
      let violated = kept && (await runSchedule(kept, { tampering: by }))[0]?.rule;
      for (let run = 0; run < ENOUGH && violated === undefined; run++) {
        const schedule = drawSchedule(seedOfRun(1, run), length, focus);
        violated = (await runSchedule(schedule, { tampering: by }))[0]?.rule;
      }
      expect(violated).toBeDefined();
    });
  }
});

test("all eleven rules are among those that are switched off", () => {
  const rules = new Set(Object.values(tamperings).map(({ rule }) => rule));
  expect([...rules].sort()).toEqual([1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]);
});
