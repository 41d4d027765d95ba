import { describe, expect, it } from "vitest";
import { checkLanguage, type LanguageRules } from "./checkLanguage.ts";

const rules: LanguageRules = {
  sharedNames: {},
  retiredNames: { claim: "candidate", face: "view", "as translated": "predicate", policy: "rule" },
  retiredProse: { knob: "setting", "sent away": "disconnected", "is away": "is offline" },
  keptMembers: {},
};
const HEAD = "## Retired words\n| retired | standard term | refused in |\n|---|---|---|\n";
const glossary = `knob: setting\n${HEAD}| claims (of names, hosts), face | view | names |\n| as translated, policies | x | names |\n| knob, sent away, is away | y | text |\n| turn | z | review |`;
const clean = { "packages/core/src/clean.ts": "export const clean = 1;" };

function problemsIn(files: Readonly<Record<string, string>>, given: Partial<LanguageRules> = {}): readonly string[] {
  const documents = new Map([["docs/glossary.md", glossary]]);
  return checkLanguage(new Map(Object.entries({ ...clean, ...files })), documents, { ...rules, ...given }).problems;
}

function problemsInText(text: string, path = "README.md"): readonly string[] {
  const documents = new Map([
    ["docs/glossary.md", glossary],
    [path, text],
  ]);
  return checkLanguage(new Map(Object.entries(clean)), documents, rules).problems;
}

describe("exported names", () => {
  it("refuses one that two files declare", () => {
    const files = { "packages/core/src/a.ts": "\nexport function hashOf() {}", "apps/agent/src/b.ts": "export type hashOf = 1;" };
    expect(problemsIn(files)).toEqual([
      "hashOf is exported from packages/core/src/a.ts:2, apps/agent/src/b.ts:1: rename all but one, or give a reason in tools/language.ts",
    ]);
  });

  it.each([
    "export class A {}",
    "export interface A {}",
    "export enum A {}",
    "export const { x, y: [A] } = z;",
    "const A = 1;\nexport { A };",
    "const x = 1;\nexport { x as A };",
    "export async function A() {}",
  ])("sees %s", (text) => {
    expect(problemsIn({ "packages/core/src/a.ts": text, "packages/api/src/b.ts": "export type A = 1;" })).toEqual([
      expect.stringMatching(/^A is exported from packages\/core\/src\/a\.ts:\d, packages\/api\/src\/b\.ts:1/),
    ]);
  });

  it("counts a value and a type of one file once, and neither re-exports, tests nor names that are not exported", () => {
    expect(
      problemsIn({
        "packages/core/src/a.ts": "export const Ref = 1;\nexport type Ref = 2;\nexport function f(x: 1): 1;\nexport function f(x: 2): 2;",
        "packages/core/src/index.ts": 'export { Ref } from "./a.ts";\nexport const f = [];',
        "packages/core/src/entry.ts": 'export { Ref, f } from "./a.ts";\nexport * from "./a.ts";',
        "packages/core/src/a.test.ts": "export const Ref = 1;",
        "packages/core/test/b.ts": "export const Ref = 1;",
        "tests/real/c.ts": "export const Ref = 1;",
        "packages/api/src/d.ts": "const Ref = 1;",
      }),
    ).toEqual([]);
  });

  it("accepts one with a reason, and refuses a reason for what is not doubled", () => {
    const files = { "apps/agent/src/a.ts": "export const A = 1;", "apps/meshctl/src/a.ts": "export const A = 1;" };
    expect(problemsIn(files, { sharedNames: { A: "two apps" } })).toEqual([]);
    expect(problemsIn({}, { sharedNames: { A: "two apps", toString: "no" } })).toEqual([
      "tools/language.ts: sharedNames lists A, which at most one file exports: remove it",
      "tools/language.ts: sharedNames lists toString, which at most one file exports: remove it",
    ]);
  });

  it.each([
    ["hostClaim", "claim"],
    ["Claims", "claim"],
    ["CLAIM_LIMIT", "claim"],
    ["XFace", "face"],
    ["readAsTranslated", "as translated"],
    ["allPolicies", "policy"],
  ])("refuses the retired word in %s", (name, word) => {
    expect(problemsIn({ "packages/core/src/a.ts": `export const ${name} = 1;` })).toEqual([
      expect.stringContaining(`packages/core/src/a.ts:1: ${name}: "${word}" is retired: `),
    ]);
  });

  it.each(["surface", "Interface", "reclaimed", "translatedAs", "faced", "PreFaced"])("accepts %s", (name) => {
    expect(problemsIn({ "packages/core/src/a.ts": `export const ${name} = 1;` })).toEqual([]);
  });
});

describe("members of exported types", () => {
  const shape = (member: string) => ({ "packages/core/src/a.ts": `export interface A {\n  ${member}\n}\ninterface B { face: 1 }` });

  it.each(["readonly ownClaims: 1;", "claim(): void;", "x: { readonly claim: 1 };", "x: (() => void) & { claim?: 1 };"])(
    "refuses the retired word in %s",
    (member) => {
      expect(problemsIn(shape(member))).toEqual([expect.stringContaining('"claim" is retired: candidate')]);
    },
  );

  it("of classes and types too, and not what a method does inside", () => {
    const text = "export class A {\n  claim(): void {}\n  x(): void { const y: { face: 1 } = z; }\n}\nexport type B = { face: 1 };";
    expect(problemsIn({ "packages/core/src/a.ts": text })).toEqual([
      'packages/core/src/a.ts:2: member claim: "claim" is retired: candidate',
      'packages/core/src/a.ts:5: member face: "face" is retired: view',
    ]);
  });

  it("may keep one with a reason, which must have a use", () => {
    expect(problemsIn(shape("claim: 1"), { keptMembers: { claim: "published" } })).toEqual([]);
    expect(problemsIn({}, { keptMembers: { claim: "published" } })).toEqual([
      "tools/language.ts: keptMembers lists claim, which no exported type has: remove it",
    ]);
  });
});

describe("paths", () => {
  it("refuses retired words in files and folders, each once, also of tests and tools", () => {
    const files = {
      "packages/core/src/face/a.ts": "",
      "packages/core/src/face/b.ts": "",
      "packages/core/test/hostClaims.test.ts": "",
      "tools/as-translated.ts": "",
      "tests/real/interface.ts": "",
    };
    expect(problemsIn(files)).toEqual([
      'packages/core/src/face: "face" is retired: view',
      'packages/core/test/hostClaims.test.ts: "claim" is retired: candidate',
      'tools/as-translated.ts: "as translated" is retired: predicate',
    ]);
  });
});

describe("prose", () => {
  it("refuses retired words in strings and templates of the source", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is the source text under test.
    const text = 'const a = "A knob.";\nconst b = `${a} was sent\naway ${a} by Knobs ${a} is away`;\nconst c = `a knob`;';
    expect(problemsIn({ "packages/core/src/a.ts": text })).toEqual([
      'packages/core/src/a.ts:1: "knob" is retired: setting',
      'packages/core/src/a.ts:2: "sent away" is retired: disconnected',
      'packages/core/src/a.ts:3: "Knobs" is retired: setting',
      'packages/core/src/a.ts:3: "is away" is retired: is offline',
      'packages/core/src/a.ts:4: "knob" is retired: setting',
    ]);
  });

  it("does not look at imports, strings of tests, single words, and words within words", () => {
    const files = {
      "packages/core/src/a.ts":
        'import { x } from "./knob.ts";\nconst a = "doorknob, knob_total, knob-like, this away";\nconst b = ["knob"];',
      "packages/core/src/a.test.ts": 'const a = "a knob";',
      "packages/testing/src/a.ts": 'f("turns a knob", g);',
    };
    expect(problemsIn(files)).toEqual([]);
  });

  it("refuses them in comments and titles of tests of all files, also over a line break", () => {
    const files = {
      "packages/core/src/a.ts": "// `knob`, is\n// away\nconst a = 1;",
      "packages/core/test/a.test.ts": '/** Whatever was sent\n * away. */\nit.each(rows)("turns a knob", f);',
      "tools/a.ts": 'const a = "knob // knob"; // knobs',
    };
    expect(problemsIn(files)).toEqual([
      'packages/core/src/a.ts:1: "is away" is retired: is offline',
      'packages/core/test/a.test.ts:1: "sent away" is retired: disconnected',
      'packages/core/test/a.test.ts:3: "knob" is retired: setting',
      'tools/a.ts:1: "knobs" is retired: setting',
    ]);
  });

  it("refuses them in documents, by line, also over a line break", () => {
    expect(problemsInText("# Title\n\nThe agent is sent\naway. [A knob](knobs.md)")).toEqual([
      'README.md:4: "knob" is retired: setting',
      'README.md:3: "sent away" is retired: disconnected',
    ]);
  });

  it("accepts them in code, code blocks, link targets and the glossary", () => {
    expect(problemsInText("`knob` [x](knob.md)\n```\nknob\n```\n")).toEqual([]);
    expect(problemsInText(`${glossary}\nThe knob is away.`, "docs/glossary.md")).toEqual([]);
  });
});

describe("the glossary's table of retired words", () => {
  it("has each retired word by itself", () => {
    const text = `knob\n${HEAD}| claim, face, as translated, policy | knob | names |\n| sent away, a knob | is away | text |`;
    expect(problemsInText(text, "docs/glossary.md").slice(0, 2)).toEqual([
      'docs/glossary.md: the table of retired words lacks "knob", which tools/language.ts lists',
      'docs/glossary.md: the table of retired words lacks "is away", which tools/language.ts lists',
    ]);
  });

  it.each([
    ["| door | entry point | names |", "door", "names", "review"],
    ["| face | view | review |", "face", "review", "names"],
    ["| knobs | setting | names, text |", "knobs", "names, text", "text"],
  ])("says where a word is refused: %s", (row, item, level, expected) => {
    const text = `${glossary}\n${row}`;
    expect(problemsInText(text, "docs/glossary.md")).toEqual([
      `docs/glossary.md: "${item}" is refused in "${level}" by the table of retired words, and in "${expected}" by tools/language.ts: change one of them`,
    ]);
  });
});

it("refuses retired words in fields of log lines, and in messages of one word", () => {
  const text =
    'log.debug({ claim: 1, hostFace }, "knob");\nlog.info({ face2: 1, ...x }, "knob_total");\nother.add({ claim: 1 }, "knob");\nlog.warn("knob");';
  expect(problemsIn({ "packages/core/src/a.ts": text })).toEqual([
    'packages/core/src/a.ts:1: "claim" is retired: candidate',
    'packages/core/src/a.ts:1: "face" is retired: view',
    'packages/core/src/a.ts:1: "knob" is retired: setting',
  ]);
});

it("does not pass where it saw nothing", () => {
  const none = { sharedNames: {}, retiredNames: {}, retiredProse: {}, keptMembers: {} };
  expect(checkLanguage(new Map(), new Map(), none).problems).toEqual(["no exported name was found"]);
});
