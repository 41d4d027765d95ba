import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { foundInputs } from "./foundInputs.ts";
import { Skipped, type Target, targetNamed } from "./target.ts";
import { practice } from "./targets/practice.ts";
import { TARGETS } from "./targets.ts";
import { drawnInput } from "./worker.ts";

// A taste of each entry point, within this process: exceptions are noticed, and rejections that nobody handles. What ends, stalls or fills a
// process is looked for by `npm run fuzz` and fuzz.long.test.ts.
const INPUTS = 5;
const SEED = 1;

/** Gives inputs to an entry point of a target; false where the entry point cannot be had on this machine. */
async function take({ start }: Target, inputs: Iterable<Buffer>): Promise<boolean> {
  try {
    const entryPoint = await start();
    try {
      for (const input of inputs) await entryPoint.take(input);
    } finally {
      await entryPoint.stop();
    }
    return true;
  } catch (error) {
    if (error instanceof Skipped) return false;
    throw error;
  }
}

test.each(TARGETS.map((target) => [target.name, target] as const))("%s takes hostile inputs", async (_, target) => {
  const isThere = await take(
    target,
    Array.from({ length: INPUTS }, (_, input) => drawnInput(target, SEED, input)),
  );
  // The programs of suites against real components may not be installed here.
  expect(isThere || target.name === "redis").toBe(true);
});

test.each(foundInputs().map(({ target, file }) => [`${target}: ${basename(file)}`, target, file] as const))(
  "an input that once failed does so no more: %s",
  async (_, target, file) => {
    const isThere = await take(targetNamed(TARGETS, target), [readFileSync(file)]);
    expect(isThere || target === "redis").toBe(true);
  },
);

test("an entry point that throws is noticed", async () => {
  const throwing = targetNamed(practice, "practice-throws");
  await expect(take(throwing, [Buffer.from([41])])).resolves.toBe(true);
  await expect(take(throwing, [Buffer.from([42])])).rejects.toThrow("on purpose");
});
