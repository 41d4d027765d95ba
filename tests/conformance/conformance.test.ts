import { existsSync } from "node:fs";
import { join } from "node:path";
import { withoutMaterial } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { type ConformanceResult, readCases, runCase } from "./cases.ts";
import { readDeliberate } from "./deliberate.ts";
import { formatDifference } from "./summary.ts";

const shared = process.env["ISTHMUS_SHARED"] ?? "../shared";
const folder = join(shared, "reference-cases");
const deliberate = readDeliberate(new URL("differences.yaml", import.meta.url));

describe("the published product's own outputs", () => {
  const cases = existsSync(folder) ? readCases(folder) : [];
  if (cases.length === 0) return withoutMaterial(`${folder} has no cases; ISTHMUS_SHARED names the folder that holds reference-cases`);
  const results = new Map<string, ConformanceResult>();
  test.each(cases.map((each) => [each.name, each] as const))("%s", (name, each) => {
    const result = runCase(each, deliberate);
    results.set(name, result);
    expect(result.failures.map(formatDifference)).toEqual([]);
  });

  test("every entry of differences.yaml is needed", () => {
    const used = new Set([...results.values()].flatMap((result) => result.deliberate));
    expect(deliberate.filter((entry) => entry.isSeen && !used.has(entry)).map(({ case: name, path }) => `${name}: ${path}`)).toEqual([]);
  });
});
