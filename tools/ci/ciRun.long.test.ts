import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

// All of `.ci/run` behind `npm ci`, on a small project of its own, with vitest and git as they are.
const root = process.cwd();
let folder: string;
let project: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-small-project-"));
  project = join(folder, "project");
  const include = (pattern: string) =>
    `export default { test: { include: [${JSON.stringify(pattern)}], setupFiles: ${JSON.stringify(join(root, "tools/ci/measuredFile.ts"))} } };\n`;
  const script = (line: string) => `echo ${JSON.stringify(line)}; true`;
  write("package.json", {
    type: "module",
    scripts: {
      test: "vitest run",
      check: script("2 checks passed, 0 failed, in 0.1 s"),
      "test:faults": script("10 schedules, 0 violations"),
      fuzz: script("10 inputs, 0 failures"),
      bench: script("done"),
    },
  });
  write(".gitignore", "node_modules\n");
  write("vitest.config.ts", include("packages/*/!(*.long).test.ts"));
  write("vitest.long.config.ts", include("packages/**/*.long.test.ts"));
  write("vitest.real.config.ts", include("tests/real/**/*.test.ts"));
  for (const empty of ["apps", "tools"]) write(`${empty}/README.md`, "\n");
  write("packages/one/short.test.ts", test("is short", ""));
  write("packages/one/one.long.test.ts", test("is long", ""));
  write("tests/real/harness/server.ts", 'export const server = "one";\n');
  write("tests/real/steady.test.ts", `import { server } from "./harness/server.ts";\n${test("is steady", 'expect(server).toBe("one")')}`);
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
  git("init", "--quiet");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, content: string | object): void {
  mkdirSync(join(project, dirname(path)), { recursive: true });
  writeFileSync(join(project, path), typeof content === "string" ? content : JSON.stringify(content));
}

const test = (name: string, body: string): string =>
  `import { expect, it } from "vitest";\nit(${JSON.stringify(name)}, () => { expect(1).toBe(1); ${body} });\n`;
/** Fails when it runs for the first time after the mark was taken away. */
const failingOnce = (mark: string): string =>
  `const mark = ${JSON.stringify(join(folder, mark))}; const ran = existsSync(mark); writeFileSync(mark, ""); expect(ran, "failed once").toBe(true);`;
const withFiles = (text: string): string => `import { existsSync, writeFileSync } from "node:fs";\n${text}`;

function git(...args: string[]): void {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], { cwd: project });
}

function run(env: Record<string, string> = {}): { readonly lines: readonly string[]; readonly code: number | null } {
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", "a change");
  const { stdout, status } = spawnSync(process.execPath, [join(root, "tools/run.mjs"), join(root, "tools/ci/main.ts")], {
    cwd: project,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], CI: "true", XDG_CACHE_HOME: join(folder, "cache"), ISTHMUS_SHARED: join(folder, "shared"), ...env },
  });
  return { lines: stdout.trimEnd().split("\n"), code: status };
}

it("runs all parts, counts what they say, and fails where the cases beside the project are missing", () => {
  const { lines, code } = run();
  expect(lines.at(-1)).toBe("8 passed, 0 failed, 1 skipped");
  expect(code, lines.join("\n")).toBe(1);
  expect(lines).toContain("the 3 dearest of 3 test files:");
});

it("leaves out what passed with equal inputs, and runs it again when an input changes", () => {
  // A recorded case, so that nothing is skipped for another reason.
  mkdirSync(join(folder, "shared/reference-cases"), { recursive: true });
  const scripts = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as { scripts: object };
  write("package.json", {
    ...scripts,
    scripts: { ...scripts.scripts, conformance: "echo 1 equal, 0 different by decision, 0 failed; true" },
  });
  expect(run()).toMatchObject({ code: 0 });
  const second = run();
  expect(second).toMatchObject({
    code: 0,
    lines: expect.arrayContaining([
      expect.stringMatching(/^equal inputs, \d{4}-\d\d-\d\d \(\w+\): tests\/real\/steady\.test\.ts, 1 tests$/),
    ]),
  });
  expect(second.lines.at(-1)).toBe("7 passed, 0 failed, 2 skipped");
  write("tests/real/harness/server.ts", 'export const server = "one"; // changed\n');
  expect(run().lines.at(-1)).toBe("8 passed, 0 failed, 1 skipped");
  expect(run({ ISTHMUS_CI_ALL: "1" }).lines.at(-1)).toBe("9 passed, 0 failed, 0 skipped");
});

it("writes no record of a tree that is not clean", () => {
  write("tests/real/unrecorded.test.ts", test("is not recorded", ""));
  const before = readFileSync(join(folder, "cache/isthmus/ci/green.json"), "utf8");
  expect(run({ CI: "" }).code).toBe(0);
  expect(readFileSync(join(folder, "cache/isthmus/ci/green.json"), "utf8")).toBe(before);
});

it("runs what failed once more: green then is flaky, red is broken, and what draws its inputs has failed at once", () => {
  write("tests/real/flaky.test.ts", withFiles(test("fails once", failingOnce("flaky"))));
  write("tests/real/broken.test.ts", test("is broken", "expect(1).toBe(2)"));
  write(
    "tests/real/drawn.test.ts",
    withFiles(`import fc from "fast-check";\n${test("draws", `fc.sample(fc.nat(), 1); ${failingOnce("drawn")}`)}`),
  );
  const { lines, code } = run();
  expect(code).toBe(1);
  expect(lines).toContain("flaky: tests/real/flaky.test.ts failed, and passed when it ran once more, alone");
  expect(lines.filter((line) => line.startsWith("FAILED in"))).toEqual([
    "FAILED in test:real, waiting: tests/real/broken.test.ts > is broken",
    "FAILED in test:real, waiting: tests/real/drawn.test.ts > draws",
  ]);
  expect(lines.at(-1)).toMatch(/ passed, 2 failed, \d skipped$/);
  expect(existsSync(join(folder, "drawn"))).toBe(true);
});

it("fails when the same file is flaky again", () => {
  rmSync(join(folder, "flaky"));
  rmSync(join(project, "tests/real/broken.test.ts"));
  const { lines, code } = run();
  expect(code).toBe(1);
  expect(lines.filter((line) => line.startsWith("FAILED"))).toEqual([expect.stringContaining("tests/real/flaky.test.ts was flaky on")]);
});

it("lets a test in quarantine fail until its day", () => {
  rmSync(join(project, "tests/real/flaky.test.ts"));
  write("tests/real/known.test.ts", test("is known to fail", "expect(1).toBe(2)"));
  const day = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1_000).toISOString().slice(0, 10);
  const line = (until: string) => `tests/real/known.test.ts > is known to fail | ${until} | it waits for a lease\n`;
  write(".ci/quarantine", line(day(3)));
  expect(run()).toMatchObject({ code: 0, lines: expect.arrayContaining([expect.stringContaining("it waits for a lease")]) });
  write(".ci/quarantine", line(day(-2)));
  expect(run()).toMatchObject({
    code: 1,
    lines: expect.arrayContaining([expect.stringContaining("FAILED: .ci/quarantine:1: the quarantine of")]),
  });
});
