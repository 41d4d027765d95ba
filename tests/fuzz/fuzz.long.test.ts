import { execFile } from "node:child_process";
import { join } from "node:path";
import { isNight } from "@isthmus/testing/atNight";
import { beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../tools/build.mjs";
import { CACHE, REPOSITORY } from "./repository.ts";

// Starts of processes, of which one may take minutes where others go first.
const TIMEOUT_MS = 1_200_000;
// Of which each hundredth is meant to fail.
const INPUTS = 20_000;

interface Ended {
  readonly last: string;
  readonly output: string;
  readonly code: number;
}

/** Runs a fuzzer as its users do; its last line and its exit code. */
function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd: REPOSITORY, timeout: TIMEOUT_MS }, (error, output) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ last: output.trim().split("\n").at(-1) ?? "", output, code });
    });
  });
}

const SLOW: readonly [string, string, string][] = [["an input that costs more than its size allows", "slow", "slow"]];

describe("the fuzzer notices", () => {
  const program = join(CACHE, "tests-fuzz-practice.mjs");
  const fuzz = (...args: readonly string[]): Promise<Ended> => run(program, args);
  beforeAll(() => bundle(join(REPOSITORY, "tests/fuzz/practiceMain.ts"), program), TIMEOUT_MS);

  test.each([
    ["an exception", "throws", "threw"],
    ["a rejection that nobody handles", "rejects", "uncaught"],
    ["a process that ends", "exits", "ended"],
    ["a turn of the event loop without end", "stalls", "stalled"],
    // As long as all others together.
    ...(isNight ? SLOW : []),
    ["a heap that grows", "grows", "grew"],
  ])(
    "%s, and names the input",
    async (_, name, type) => {
      const target = `practice-${name}`;
      // A busy machine gives no sign of life for a while, either.
      const patience = name === "stalls" ? "5" : "60";
      const { last, output, code } = await fuzz("--target", target, "--seed", "7", "--input", `0-${INPUTS}`, "--stall", patience);
      expect(output).toContain(type);
      const replay = /^failure: npm run fuzz -- (--target \S+ --seed 7 --input (\d+))$/.exec(last);
      expect(replay?.[1]).toContain(target);
      expect(code).toBe(1);
      // What grows does so over many inputs.
      if (name === "grows") return;
      const again = await fuzz(...(replay?.[1] ?? "").split(" "), "--stall", patience);
      expect(again.last).toBe(last);
      expect(again.code).toBe(1);
    },
    TIMEOUT_MS,
  );

  test(
    "nothing where there is nothing",
    async () => {
      const { last, code } = await fuzz("--targets", "practice-good", "--minutes", "0.02", "--jobs", "1");
      expect(last).toMatch(/^[1-9]\d* inputs, 0 failures$/);
      expect(code).toBe(0);
    },
    TIMEOUT_MS,
  );
});

test(
  "inputs that once failed do so no more",
  async () => {
    const program = join(CACHE, "tests-fuzz-under-test.mjs");
    await bundle(join(REPOSITORY, "tests/fuzz/main.ts"), program);
    const { last, output } = await run(program, ["--found", "--stall", "60"]);
    expect(last, output).toMatch(/^[1-9]\d* inputs, 0 failures$/);
  },
  TIMEOUT_MS,
);
