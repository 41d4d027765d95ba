import { expect, test } from "vitest";

/**
 * In place of tests whose material, kept outside of the repository, is not there: one test that is skipped and says why. With CI=true it
 * fails, as tests that nobody runs prove nothing.
 */
export function withoutMaterial(reason: string): void {
  if (process.env["CI"] === "true") test("its material is there", () => expect.fail(reason));
  else test.skip(`skipped: ${reason}`);
}
