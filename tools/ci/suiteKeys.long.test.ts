import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { importsOf } from "../importsOf.ts";
import { type Planner, readPlanner } from "./plan.ts";
import { type ProjectFiles, projectFiles, readProjectFiles } from "./projectFiles.ts";
import { keyOf, readWorld } from "./suiteKeys.ts";
import { realTests } from "./testFiles.ts";

const root = process.cwd();
const CONFIG = "vitest.real.config.ts";
const SAMPLE = 60;

let files: ProjectFiles;
let planner: Planner;
beforeAll(async () => {
  files = readProjectFiles(root);
  planner = await readPlanner(root, files);
});

const texts = new Map<string, string>();
const textOf = (path: string): string => {
  const text = texts.get(path) ?? readFileSync(join(root, path), "utf8");
  texts.set(path, text);
  return text;
};

const direct = new Map<string, readonly string[]>();

/** What a file imports of the project. */
function importedBy(path: string): readonly string[] {
  const known = direct.get(path);
  if (known !== undefined) return known;
  const found = importsOf(path, textOf(path)).flatMap(({ specifier, mode }) => {
    const target = specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : entryOf(specifier);
    return mode === "type" || target === undefined || !/\.tsx?$/.test(target) ? [] : [target];
  });
  direct.set(path, found);
  return found;
}

/** All of the project that a file imports, by its own text: found without what the keys are made of. */
function imported(from: string): ReadonlySet<string> {
  const found = new Set([from]);
  // A set also gives what is added while it is read.
  for (const path of found) for (const target of importedBy(path)) found.add(target);
  return found;
}

/** Of a package of the project: what its name, or a path below it, stands for. */
function entryOf(specifier: string): string | undefined {
  const [, name = "", below = ""] = /^@isthmus\/([^/]+)(\/.*)?$/.exec(specifier) ?? [];
  if (name === "") return undefined;
  const { exports } = JSON.parse(textOf(`packages/${name}/package.json`)) as { readonly exports: Readonly<Record<string, string>> };
  const target = exports[`.${below}`];
  return target === undefined ? undefined : posix.join("packages", name, target);
}

/** What a suite uses, and what that is made of; `uses` is a text by which a suite says so. */
const USED = [
  { what: "a harness file", uses: /./, made: (suite: string) => [...imported(suite)].filter((path) => path.startsWith("tests/real/")) },
  ...["agent", "meshctl", "mgmt-server", "ui"].map((app) => ({
    what: `the program ${app}`,
    uses: new RegExp(`apps/${app}/(?:bin|src)/`),
    made: () => [...imported(`apps/${app}/src/main.ts`)],
  })),
  { what: "the charts", uses: /deploy\/helm"/, made: () => files.below("deploy/helm") },
  { what: "the CRDs", uses: /deploy\/crds"/, made: () => files.below("deploy/crds") },
];

describe("a change of one line", () => {
  it.each(USED)("in what $what is made of is among the inputs of each real suite that uses it", ({ uses, made }) => {
    const missing: string[] = [];
    let used = 0;
    for (const suite of realTests(root)) {
      const ownTexts = [...imported(suite)].filter((path) => path.startsWith("tests/")).map(textOf);
      if (!ownTexts.some((text) => uses.test(text))) continue;
      used += 1;
      const known = new Set(planner.inputsOf(suite, CONFIG).files);
      missing.push(...made(suite).flatMap((path) => (known.has(path) ? [] : [`${suite}: ${path}`])));
    }
    expect(missing).toEqual([]);
    expect(used).toBeGreaterThan(0);
  });

  it("in any input changes the key of a suite, and in anything else does not", () => {
    const world = { machine: "", shared: "" };
    const changed = (path: string): ProjectFiles => projectFiles(new Map([...files.hashes, [path, "changed"]]), false);
    const [suite = ""] = realTests(root).filter((path) => path.endsWith("drift.test.ts"));
    const inputs = planner.inputsOf(suite, CONFIG);
    const key = keyOf(inputs, files, world);
    const drawn = <T>(list: readonly T[]): readonly T[] => list.filter(() => Math.random() < SAMPLE / list.length);
    for (const path of [suite, CONFIG, "package-lock.json", ".ci/run", "tools/ci/suiteKeys.ts", ...drawn(inputs.files)])
      expect(keyOf(inputs, changed(path), world), path).not.toBe(key);
    const others = [...files.hashes.keys()].filter(
      (path) => !inputs.files.includes(path) && !/^(?:\.ci|tools\/ci)\/|^[^/]*$|^tools\/run/.test(path),
    );
    for (const path of drawn(others)) expect(keyOf(inputs, changed(path), world), path).toBe(key);
    expect(keyOf(inputs, files, { ...world, machine: "another Node" })).not.toBe(key);
    expect(keyOf({ ...inputs, readsShared: true }, files, { ...world, shared: "other cases" })).not.toBe(
      keyOf({ ...inputs, readsShared: true }, files, world),
    );
  });
});

describe("what decides about every suite", () => {
  const read = (environment: Record<string, string>) => readWorld("", join(root, "no-such-folder"), environment).machine;

  it("has each switch of the environment that changes what suites do, and none that only says which run", () => {
    expect(read({ ISTHMUS_SEED: "1" })).not.toBe(read({}));
    expect(read({ NODE_OPTIONS: "--no-opt" })).not.toBe(read({}));
    expect(read({ ISTHMUS_CI_ALL: "1", ISTHMUS_MEASURES: "a", HOME: "b" })).toBe(read({}));
    expect(read({})).toContain(process.version);
  });

  it("has the version of each component: the list that install.sh writes names folders by what they are built from", () => {
    const [list = ""] = readdirSync(root).filter((name) => name === "package.json");
    expect(readWorld(list, root, {}).machine).not.toBe(readWorld("", root, {}).machine);
  });
});

it("no test of real components but those of random worlds runs each time", () => {
  const always = realTests(root).filter((suite) => {
    const { unsure, drawsSeed } = planner.inputsOf(suite, CONFIG);
    return unsure !== undefined || drawsSeed;
  });
  expect(always).toEqual(["tests/real/cilium/verdicts.test.ts", "tests/real/istioEffect/istioEffect.test.ts"]);
});
