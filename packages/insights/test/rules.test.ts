import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { formatRef } from "@isthmus/core";
import { printDocuments } from "@isthmus/testing";
import { expect, test } from "vitest";
import { EXPLAINED_CODES, explainedCode } from "../src/catalogue/index.ts";
import { type Insight, RULES } from "../src/index.ts";
import { codesWithFixtures, fixture, insightsAbout, isPair, offlineIn, TESTDATA } from "./fixtures.ts";

const CODES: readonly string[] = EXPLAINED_CODES.map(({ code }) => code);

test("every code has its pair of fixtures, and every folder is of a code", () => {
  expect(CODES.filter((code) => !isPair(code))).toEqual([]);
  expect(codesWithFixtures()).toEqual(CODES);
});

test("each code that the catalogue says a rule finds has a rule", () => {
  const said = EXPLAINED_CODES.filter(({ foundBy }) => foundBy.includes("rule")).map(({ code }) => code);
  expect(RULES.map(({ code }) => code)).toEqual(said);
});

test.each(EXPLAINED_CODES)("$code has texts of the form that readers rely on", ({ title, meaning, consequence, remedy }) => {
  expect(title).toMatch(/^[A-Z][^.]{3,59}$/);
  for (const sentences of [meaning, consequence]) expect(sentences).toMatch(/^[A-Z].{10,400}\.$/);
  expect(remedy).toMatch(/^[^.].*[^.]$/);
});

test("rules stand in the order of their codes, and no code stands twice", () => {
  const codes = RULES.map(({ code }) => code);
  expect(codes).toEqual([...new Set(codes)].sort());
});

test.each(codesWithFixtures())("%s finds what its fixture shows", (code) => {
  const [resources, offline] = [fixture(code, "finds"), offlineIn(code, "finds")];
  const found = insightsAbout(resources, offline).all;
  expect(found.some((insight) => insight.code === code)).toBe(true);
  expect(
    insightsAbout(
      [...resources].reverse().map((resource) => structuredClone(resource)),
      offline,
    ).all,
  ).toEqual(found);
  const examples = found.filter((insight) => insight.code === code).map(exampleOf);
  expect(examples).toContain(explainedCode(code)?.example);
  const file = `${TESTDATA}${code}/finds.out.yaml`;
  const printed = printDocuments(found.filter((insight) => insight.code === code).map(shown));
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, printed);
  expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(printed);
});

test.each(codesWithFixtures())("%s does not find it where it is not", (code) => {
  const found = insightsAbout(fixture(code, "quiet"), offlineIn(code, "quiet")).all.filter((insight) => insight.code === code);
  expect(found).toEqual([]);
});

function shown({ object, targets, cluster: _, category: __, ...others }: Insight): object {
  return { object: formatRef(object), ...(targets === undefined ? {} : { targets: targets.map(formatRef) }), ...others };
}

function exampleOf({ object, field, message }: Insight): string {
  return `${formatRef(object)}: ${field === "" ? "" : `${field}: `}${message}`;
}
