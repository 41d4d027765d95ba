import { expect, test } from "vitest";
import { runSchedule } from "./schedule.ts";
import { parseStep } from "./step.ts";

/** Shrunk schedules in which something was wrong once. */
const TRACES = [
  {
    name: "a refused removal of an object that a later part of the same set wants is not reported",
    seed: 2084311187,
    clusters: 2,
    steps: "forgeRemoval b 8 0;wait - 4 0",
  },
];

test.for(TRACES)("$name", { timeout: 60_000 }, async ({ seed, clusters, steps }) => {
  expect(await runSchedule({ seed, clusters, steps: steps.split(";").map(parseStep) })).toEqual([]);
});
