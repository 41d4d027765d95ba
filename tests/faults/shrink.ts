import { type RunOptions, runSchedule, type Schedule } from "./schedule.ts";
import type { Step } from "./step.ts";

/** The schedule without the steps that a violation of the same rule does not need. */
export async function shrunk(schedule: Schedule, rule: string, options: Pick<RunOptions, "tampering"> = {}): Promise<Schedule> {
  const isBad = async (steps: readonly Step[]) => {
    const violations = await runSchedule({ ...schedule, steps }, options);
    return violations[0]?.rule === rule;
  };
  let { steps } = schedule;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < steps.length; ) {
      const fewer = [...steps.slice(0, from), ...steps.slice(from + size)];
      if (fewer.length < steps.length && (await isBad(fewer))) steps = fewer;
      else from += size;
    }
  }
  return { ...schedule, steps };
}
