import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** What became of one test. */
export interface TestResult {
  readonly name: string;
  readonly status: "passed" | "failed" | "skipped";
  /** Why it failed. */
  readonly message?: string;
}

/** What became of one test file. */
export interface FileResult {
  /** Path relative to the root. */
  readonly file: string;
  readonly tests: readonly TestResult[];
  /** Why it failed outside its tests. */
  readonly problem?: string;
}

/** What became of a part of the run: some test files, or another program. */
export interface SuiteResult {
  readonly name: string;
  readonly files: readonly FileResult[];
  /** Counts of what is no test file. */
  readonly others?: { readonly passed: number; readonly failed: number; readonly skipped: number };
  /** What else is to be said in its line. */
  readonly note?: string;
  readonly wallSeconds: number;
  /** User and system time of all its processes. */
  readonly processorSeconds: number;
}

/** Reads what vitest's reporter `json` has written; undefined where it has written nothing that can be read: it was ended. */
export function readVitestResults(path: string, root: string): readonly FileResult[] | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const { testResults } = JSON.parse(readFileSync(path, "utf8")) as { readonly testResults: readonly VitestFile[] };
    return testResults.map((one) => fileResult(one, root));
  } catch {
    return undefined;
  }
}

interface VitestFile {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[] | null;
  }[];
}

function fileResult({ name, status, message = "", assertionResults }: VitestFile, root: string): FileResult {
  const tests = assertionResults.map((one): TestResult => {
    if (one.status === "passed") return { name: one.fullName, status: "passed" };
    if (one.status === "failed") return { name: one.fullName, status: "failed", message: (one.failureMessages ?? []).join("\n") };
    return { name: one.fullName, status: "skipped" };
  });
  const failedOutside = status === "failed" && !tests.some((test) => test.status === "failed");
  return {
    file: relative(root, name),
    tests,
    ...(failedOutside ? { problem: message === "" ? "it failed outside its tests" : message } : {}),
  };
}

/** Whether a test file passed. */
export function isGreen({ tests, problem }: FileResult): boolean {
  return problem === undefined && tests.every(({ status }) => status !== "failed");
}

/** What passed, failed and was skipped. A file that fails outside its tests counts as one failure. */
export function countsOf({ files, others }: Pick<SuiteResult, "files" | "others">): {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
} {
  const count = (status: TestResult["status"]): number =>
    files.reduce((sum, { tests }) => sum + tests.filter((test) => test.status === status).length, 0);
  const outside = files.filter(({ problem }) => problem !== undefined).length;
  return {
    passed: count("passed") + (others?.passed ?? 0),
    failed: count("failed") + outside + (others?.failed ?? 0),
    skipped: count("skipped") + (others?.skipped ?? 0),
  };
}

/** The counts that the last line of a program gives that is no vitest; without such a line it is one test, which `succeeded` says passed. */
export function countsOfLastLine(output: string, succeeded: boolean): Pick<Required<SuiteResult>, "others"> & { readonly note?: string } {
  const last = output.trim().split("\n").at(-1)?.trim() ?? "";
  // Of the conformance runner: what differs as decided has passed.
  const compared = /^(\d+) equal, (\d+) different by decision, (\d+) failed$/.exec(last)?.map(Number);
  const plain = /^(\d+) (?:checks )?passed, (\d+) failed(?:, (\d+) skipped)?(?:, in .*)?$/.exec(last)?.map((one) => Number(one ?? 0));
  const others =
    compared !== undefined
      ? { passed: (compared[1] ?? 0) + (compared[2] ?? 0), failed: compared[3] ?? 0, skipped: 0 }
      : plain !== undefined
        ? { passed: plain[1] ?? 0, failed: plain[2] ?? 0, skipped: plain[3] ?? 0 }
        : { passed: succeeded ? 1 : 0, failed: 0, skipped: 0 };
  // One that broke off has failed, whatever it counted until then.
  const failed = succeeded || others.failed > 0 ? others.failed : 1;
  // Drawn at random, schedules of faults are one test, however many there are.
  return { others: { ...others, failed }, ...(/^\d+ schedules, /.test(last) ? { note: last } : {}) };
}
