import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { formatRef } from "@isthmus/core";
import { printDocuments } from "@isthmus/testing";
import { expect, test } from "vitest";
import { type Insight, RULES } from "../src/index.ts";
import { codesWithFixtures, fixture, insightsAbout, isPair, TESTDATA } from "./fixtures.ts";

test("every rule has its pair of fixtures, and every folder is of a code", () => {
  const missing = RULES.map(({ code }) => code).filter((code) => !isPair(code));
  expect(missing).toEqual([]);
});

test("rules stand in the order of their codes, and no code stands twice", () => {
  const codes = RULES.map(({ code }) => code);
  expect(codes).toEqual([...new Set(codes)].sort());
});

test.each(codesWithFixtures())("%s finds what its fixture shows", (code) => {
  const resources = fixture(code, "finds");
  const found = insightsAbout(resources).all;
  expect(found.some((insight) => insight.code === code)).toBe(true);
  expect(insightsAbout([...resources].reverse().map((resource) => structuredClone(resource))).all).toEqual(found);
  const file = `${TESTDATA}${code}/finds.out.yaml`;
  const printed = printDocuments(found.filter((insight) => insight.code === code).map(shown));
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, printed);
  expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(printed);
});

test.each(codesWithFixtures())("%s does not find it where it is not", (code) => {
  const found = insightsAbout(fixture(code, "quiet")).all.filter((insight) => insight.code === code);
  expect(found).toEqual([]);
});

function shown({ object, targets, cluster: _, category: __, ...others }: Insight): object {
  return { object: formatRef(object), ...(targets === undefined ? {} : { targets: targets.map(formatRef) }), ...others };
}
