import { virtualClock } from "@isthmus/simulator";
import { settledWithCryptography } from "./cryptographyAtWork.ts";

/** The time of everything that runs in a test file. It passes in `eventually`, `quiet` and `meanwhile` alone, however busy the machine is. */
export const clock = virtualClock(undefined, settledWithCryptography);

// Longer than any pause of the loops, and as nothing where all are asleep.
const BUDGET_MS = 10 * 60_000;
const STEP_MS = 20;

/** Lets time pass until `holds` does not throw, and gives what it gives; after ten minutes throws what it throws. */
export async function eventually<T>(holds: () => T | Promise<T>): Promise<T> {
  for (const end = clock.now() + BUDGET_MS; ; await clock.advance(STEP_MS)) {
    try {
      return await holds();
    } catch (error) {
      if (clock.now() >= end) throw error;
    }
  }
}

/** Lets time pass in which a wrong write would show: many rounds of the loops, whose pauses are 20 ms. */
export async function quiet(ms = 2_000): Promise<void> {
  await clock.advance(ms);
}

/** Lets time pass until something that the test waits for has ended. */
export async function meanwhile<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // Its failure is reported below.
  done.catch(() => undefined);
  while (!isDone) await clock.advance(STEP_MS);
  return done;
}
