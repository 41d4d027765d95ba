import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DISCOVERY_FINDINGS, FINDINGS } from "../src/index.ts";

test("the catalogue has every code that goldens show", () => {
  const folder = new URL("../testdata/", import.meta.url);
  const codes = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".out.yaml"))
    .flatMap((file) => [...readFileSync(new URL(file, folder), "utf8").matchAll(/ code: (\w+)$/gm)].map(([, code = ""]) => code));
  expect(codes).not.toEqual([]);
  expect(Object.keys({ ...FINDINGS, ...DISCOVERY_FINDINGS })).toEqual(expect.arrayContaining([...new Set(codes)]));
});
