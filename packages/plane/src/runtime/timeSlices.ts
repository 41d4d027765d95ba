import { type Clock, type CooperativeTask, uptimeOf } from "@isthmus/core";

/** For so long, in ms, one piece of work may keep everything else waiting. */
export const SLICE_MS = 3;

/** Drives steps a slice at a time; everything else gets its turn in between. Rejects when aborted, which is seen between slices. */
export async function runTimeSliced<T>(steps: CooperativeTask<T>, { clock, sliceMs }: TimeSlicing, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const until = uptimeOf(clock) + sliceMs;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (uptimeOf(clock) < until);
    await clock.sleep(0, signal);
  }
}

export interface TimeSlicing {
  readonly clock: Clock;
  /** Length of a slice; 0: every step is one. */
  readonly sliceMs: number;
}
