import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ProjectFiles } from "./projectFiles.ts";
import { hashOfFiles } from "./suiteKeys.ts";

/** That a suite passed with certain inputs. */
export interface GreenRecord {
  readonly key: string;
  /** When it passed: ISO 8601, UTC. */
  readonly date: string;
  readonly commit: string;
  /** How many of its tests passed then. */
  readonly tests: number;
  /** What it read of the project beside the inputs in its key, and a hash of that. */
  readonly read: { readonly paths: readonly string[]; readonly hash: string };
}

/** What passed lately, by suite. */
export type GreenRecords = Readonly<Record<string, readonly GreenRecord[]>>;

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long a suite need not run again. */
const VALID_MS = 7 * DAY_MS;
/** Of one suite: some branches and the days between them. */
const MOST_PER_SUITE = 8;

/** Reads them from a file; none where there is no such file, or it is not one of ours. */
export function readGreenRecords(path: string): GreenRecords {
  if (!existsSync(path)) return {};
  try {
    const read: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRecords(read) ? read : {};
  } catch {
    return {};
  }
}

/** The record by which a suite need not run, the newest; undefined: there is none. */
export function greenRecordOf(
  records: GreenRecords,
  suite: string,
  { key, files, now }: { readonly key: string; readonly files: ProjectFiles; readonly now: Date },
): GreenRecord | undefined {
  return (records[suite] ?? []).findLast((record) => {
    const age = now.getTime() - Date.parse(record.date);
    return record.key === key && age >= 0 && age < VALID_MS && hashOfFiles(record.read.paths, files) === record.read.hash;
  });
}

/** Adds records; those that are too old go. */
export function writeGreenRecords(path: string, added: ReadonlyMap<string, GreenRecord>, now: Date): void {
  const records: Record<string, readonly GreenRecord[]> = { ...readGreenRecords(path) };
  for (const [suite, record] of added) {
    const others = (records[suite] ?? []).filter(({ key, read }) => key !== record.key || read.hash !== record.read.hash);
    records[suite] = [...others, record].slice(-MOST_PER_SUITE);
  }
  const kept = Object.entries(records)
    .map(([suite, list]) => [suite, list.filter(({ date }) => now.getTime() - Date.parse(date) < VALID_MS)] as const)
    .filter(([, list]) => list.length > 0);
  mkdirSync(dirname(path), { recursive: true });
  // Whole or not at all.
  writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(kept)));
  renameSync(`${path}.new`, path);
}

function isRecords(read: unknown): read is GreenRecords {
  if (typeof read !== "object" || read === null || Array.isArray(read)) return false;
  return Object.values(read).every((list) => Array.isArray(list) && list.every(isRecord));
}

function isRecord(one: unknown): one is GreenRecord {
  const { key, date, commit, tests, read } = (one ?? {}) as Partial<GreenRecord>;
  const isRead = Array.isArray(read?.paths) && read.paths.every((path) => typeof path === "string") && typeof read.hash === "string";
  return (
    typeof key === "string" && typeof commit === "string" && typeof tests === "number" && !Number.isNaN(Date.parse(date ?? "")) && isRead
  );
}
