import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type GreenRecord, greenRecordOf, readGreenRecords, writeGreenRecords } from "./greenRecords.ts";
import { projectFiles } from "./projectFiles.ts";
import { hashOfFiles } from "./suiteKeys.ts";

const files = projectFiles(
  new Map([
    ["docs/a.md", "1"],
    ["docs/b.md", "2"],
  ]),
  true,
);
const now = new Date("2026-11-29T12:00:00Z");
const record = (days: number, more: Partial<GreenRecord> = {}): GreenRecord => ({
  key: "k",
  date: new Date(now.getTime() - days * 24 * 60 * 60 * 1_000).toISOString(),
  commit: "d31072cf",
  tests: 3,
  read: { paths: ["docs"], hash: hashOfFiles(["docs"], files) },
  ...more,
});
const found = (one: GreenRecord, of = files) => greenRecordOf({ suite: [one] }, "suite", { key: "k", files: of, now });

it("finds a record of the last seven days with an equal key", () => {
  expect(found(record(6))).toEqual(record(6));
  expect(found(record(7))).toBeUndefined();
  expect(found(record(-1))).toBeUndefined();
  expect(found(record(1, { key: "other" }))).toBeUndefined();
  expect(greenRecordOf({ suite: [record(1)] }, "other", { key: "k", files, now })).toBeUndefined();
});

it("finds none where something has changed that the suite read beside its inputs: a file, or what is in a folder", () => {
  for (const hashes of [
    [["docs/a.md", "1"]],
    [
      ["docs/a.md", "1"],
      ["docs/b.md", "3"],
    ],
    [
      ["docs/a.md", "1"],
      ["docs/b.md", "2"],
      ["docs/c.md", "4"],
    ],
  ] as const)
    expect(found(record(1), projectFiles(new Map(hashes), true))).toBeUndefined();
});

it("keeps records of several days, drops old ones, and takes a broken file for an empty one", () => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-records-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "ci/green.json");
  const write = (one: GreenRecord, name = "suite") => writeGreenRecords(path, new Map([[name, one]]), now);
  write(record(8), "old");
  write(record(3));
  write(record(2, { key: "other" }));
  write(record(1));
  expect(readGreenRecords(path)).toEqual({ suite: [record(2, { key: "other" }), record(1)] });
  for (const broken of [
    readFileSync(path, "utf8").slice(0, -5),
    "[]",
    '{"suite":[{"key":1}]}',
    '{"suite":[{"key":"k","date":"never","commit":"","tests":1,"read":{"paths":[],"hash":""}}]}',
  ]) {
    writeFileSync(path, broken);
    expect(readGreenRecords(path), broken).toEqual({});
  }
});
