import { it } from "vitest";

/** Whether all is run, and not only what has room in CI's budget. */
export const isNight = process.env["ISTHMUS_NIGHTLY"] === "1";

/**
 * `it` of a test that CI leaves to `.ci/nightly` (ISTHMUS_NIGHTLY=1), to stay within its budget. Without it nothing is defined, so that no test is called
 * skipped. A test of the same promise stays in CI beside it.
 */
export const itAtNight: typeof it = isNight ? it : ((() => undefined) as unknown as typeof it);
