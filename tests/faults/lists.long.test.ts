import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSourceTree } from "../../tools/sourceTree.ts";
import { functionsByLine } from "./lineCoverage/functions.ts";
import { mutantsIn } from "./mutation/allMutants.ts";
import { KNOWN, knownMutant } from "./mutation/known.ts";
import { stepKinds } from "./steps/index.ts";

// What excuses something that is no longer there hides what took its place.
const list = (path: string): unknown => JSON.parse(readFileSync(`tests/faults/${path}`, "utf8"));

test("every function of which the line coverage says why it is seldom reached exists", () => {
  const listed = list("lineCoverage/unreached.json") as readonly { readonly path: string; readonly functions: readonly string[] }[];
  const stale = listed.flatMap(({ path, functions }) => {
    const known = new Set(functionsByLine(path, readFileSync(path, "utf8")).values());
    return functions.filter((name) => name !== "*" && !known.has(name)).map((name) => `${path} ${name}`);
  });
  expect(stale).toEqual([]);
});

test("every mutant that is listed as a survivor exists", () => {
  const survivors = list("mutation/survivors.json") as readonly { readonly mutant: string }[];
  const sources = [...readSourceTree(process.cwd())].filter(([path]) => survivors.some(({ mutant }) => mutant.startsWith(`${path}:`)));
  const names = new Set(mutantsIn(new Map(sources)).map(({ name }) => name));
  expect(survivors.map(({ mutant }) => mutant).filter((name) => !names.has(name))).toEqual([]);
});

test("every mutant that was once noticed by nothing still applies, and its schedules have the steps that lead to it", () => {
  for (const known of KNOWN) {
    expect(() => knownMutant(process.cwd(), known)).not.toThrow();
    expect(known.focus.filter((name) => !(name in stepKinds))).toEqual([]);
  }
});
