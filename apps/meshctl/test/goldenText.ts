import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** Compares what a command printed with `testdata/NAME.txt`; with UPDATE_GOLDEN=1 writes it. */
export function expectGolden(name: string, text: string): void {
  const file = fileURLToPath(new URL(`../testdata/${name}.txt`, import.meta.url));
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(existsSync(file), `${file} is missing: npm run golden:update writes it`).toBe(true);
  expect(text).toBe(readFileSync(file, "utf8"));
}
