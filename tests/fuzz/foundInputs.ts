import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { REPOSITORY } from "./repository.ts";
import { runShift } from "./shift.ts";

/** An input that once failed: `tests/fuzz/found/TARGET/a-sentence-that-says-what-it-did`. */
export interface FoundInput {
  readonly target: string;
  readonly file: string;
}

export function foundInputs(): readonly FoundInput[] {
  const folder = join(REPOSITORY, "tests/fuzz/found");
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      readdirSync(join(folder, name))
        .sort()
        .map((file) => ({ target: name, file: join(folder, name, file) })),
    );
}

/** Gives each to its target, in a process of its own; a line for each that fails. */
export async function takeAll(
  inputs: readonly FoundInput[],
  { program, stallMs }: { readonly program: string; readonly stallMs: number },
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const { target, file } of inputs) {
    let isTaken = false;
    const { skipped } = await runShift({
      target,
      file,
      seed: 0,
      program,
      stallMs,
      next() {
        const block = isTaken ? undefined : { from: 0, count: 1 };
        isTaken = true;
        return block;
      },
      failed({ type, detail }) {
        failures.push(`${target}, ${basename(file)}: ${type}: ${detail}`);
        return false;
      },
    });
    if (skipped !== undefined) console.log(`${target}, ${basename(file)}: skipped: ${skipped}`);
  }
  return failures;
}
