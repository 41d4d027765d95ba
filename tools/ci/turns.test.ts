import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import type { GreenRecord } from "./greenRecords.ts";
import type { PlannedFile } from "./plan.ts";
import { changedSinceIn, type TurnOptions, turnsOf } from "./turns.ts";

const now = new Date("2026-11-30T12:00:00Z");
const hoursAgo = (hours: number): string => new Date(now.getTime() - hours * 60 * 60 * 1_000).toISOString();
const passed = (hours: number, commit = "d31072cf"): GreenRecord => ({
  key: "then",
  date: hoursAgo(hours),
  commit,
  tests: 3,
  read: { paths: ["docs/read.md"], hash: "" },
});
const planned = (file: string, more: Partial<PlannedFile> = {}): PlannedFile => ({
  file,
  key: "now",
  inputs: { files: [file, "packages/one/src/a.ts", "tests/real/harness/b.ts"], drawsSeed: false, readsShared: false, startsMeshes: false },
  ...more,
});
const files = ["a", "b", "c", "d", "e", "f"].map((name) => `tests/real/${name}.test.ts`);
const [A = "", B = "", C = "", D = "", E = "", F = ""] = files;
const times = Object.fromEntries(files.map((file) => [file, { wallSeconds: 50, processorSeconds: 30 }]));
const records = { [A]: [passed(2)], [B]: [passed(9), passed(1)], [C]: [passed(3)], [D]: [passed(4)], [E]: [passed(5)], [F]: [passed(6)] };

function turns(more: Partial<TurnOptions> & { readonly changed?: readonly string[]; readonly planned?: readonly PlannedFile[] } = {}) {
  const { changed = ["packages/one/src/a.ts"] } = more;
  const all = more.planned ?? files.map((file) => planned(file));
  const { planned: running, waiting } = turnsOf(all, { records, times, now, changedSince: () => new Set(changed), ...more });
  return { running: running.map(({ file }) => file), waiting: [...waiting.keys()].sort() };
}

it("runs the third that has waited longest", () => {
  expect(turns()).toEqual({ running: [E, F], waiting: [A, B, C, D] });
});

it("gives each its turn within three runs", () => {
  let left: Record<string, readonly GreenRecord[]> = records;
  const ran = [1, 2, 3].flatMap((run) => {
    const { running } = turns({ records: left, now: new Date(now.getTime() + 60 * 60 * 1_000) });
    left = { ...left, ...Object.fromEntries(running.map((file) => [file, [passed(-run / 60)]])) };
    return running;
  });
  expect(ran.sort()).toEqual(files);
});

it("shares out processor time, not files", () => {
  expect(turns({ times: { ...times, [F]: { wallSeconds: 1, processorSeconds: 500 } } }).running).toEqual([F]);
});

it.each<[string, Parameters<typeof turns>[0]]>([
  ["that passed in no run", { records: { ...records, [A]: [] } }],
  ["that passed three days ago", { records: { ...records, [A]: [passed(73)] } }],
  ["that takes little time", { times: { ...times, [A]: { wallSeconds: 50, processorSeconds: 9 } } }],
  ["that has not been measured", { times: { ...times, [A]: undefined } as never }],
  [
    "that passed at a commit that is not here",
    { records: { ...records, [A]: [passed(2, "gone")] }, changedSince: (commit) => (commit === "gone" ? undefined : new Set()) },
  ],
  ["that has changed itself", { changed: [A] }],
  [
    "without a key, as it draws its inputs",
    { planned: files.map((file) => (file === A ? { file, inputs: planned(file).inputs } : planned(file))) },
  ],
])("runs a file at once %s", (_, more) => {
  expect(turns(more).running).toContain(A);
});

it.each(["tests/real/harness/b.ts", "docs/read.md", "package-lock.json"])("runs all that %s is about, when that has changed", (path) => {
  expect(turns({ changed: [path] })).toEqual({ running: files, waiting: [] });
});

it("counts what passed with equal inputs among none of them", () => {
  const { running, waiting } = turns({ planned: files.map((file) => planned(file, file === F ? { record: passed(6) } : {})) });
  expect(running).toContain(F);
  expect(waiting).not.toContain(F);
});

it("asks git what differs from a commit", () => {
  const changedSince = changedSinceIn(process.cwd());
  expect(changedSince("0000000000000000000000000000000000000000")).toBeUndefined();
  const head = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
  expect(changedSince(head)).toBeInstanceOf(Set);
});
