import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** Compares what a command printed with `testdata/NAME.txt`; with UPDATE_GOLDEN=1 writes it. */
export function expectGolden(name: string, text: string): void {
  const [, columns] = /-(80|120)$/.exec(name) ?? [];
  // Commands and errors stay on their lines, so that they can be copied and searched for.
  const lines = columns === undefined ? [] : text.split("\n").filter((line) => !/^(error: | *(helm|meshctl|kubectl) )/.test(line));
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(Number(columns));
  const file = fileURLToPath(new URL(`../testdata/${name}.txt`, import.meta.url));
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(existsSync(file), `${file} is missing: npm run golden:update writes it`).toBe(true);
  expect(text).toBe(readFileSync(file, "utf8"));
}
