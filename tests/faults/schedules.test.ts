import { expect, test } from "vitest";
import { seedOfRun } from "./random.ts";
import { drawSchedule, runSchedule } from "./schedule.ts";

// A taste of the campaign: `npm run test:faults -- --runs N` runs as many as one likes.
const RUNS = 5;

test("schedules of faults end with every cluster as it ought to be", { timeout: 120_000 }, async () => {
  for (let run = 0; run < RUNS; run++) {
    const schedule = drawSchedule(seedOfRun(20_000, run));
    expect(await runSchedule(schedule), `npm run test:faults -- --seed ${schedule.seed} --trace`).toEqual([]);
  }
});

test("a schedule is the same each time", { timeout: 60_000 }, async () => {
  const traceOf = async () => {
    const trace: string[] = [];
    // Names of Events end in letters that no seed decides, as two replicas must not choose the same.
    await runSchedule(drawSchedule(4), { trace: (line) => trace.push(line.replace(/( Event \S+)\.[a-z0-9]{10}$/, "$1")) });
    return trace;
  };
  expect(await traceOf()).toEqual(await traceOf());
});
