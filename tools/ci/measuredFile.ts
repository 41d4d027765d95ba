// A setup file of vitest, for each test file: with ISTHMUS_MEASURES, adds to that file what the test file took and read. Without, it does nothing.
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";
import type { MeasuredFile } from "./measures.ts";
import { recordReads } from "./recordedReads.ts";

const measures = process.env["ISTHMUS_MEASURES"];
if (measures !== undefined) {
  // npm runs vitest in the project's root.
  const root = process.cwd();
  const reads = recordReads(root);
  // What was read before it is not its own.
  reads.take();
  const [began, spent] = [performance.now(), processorSeconds()];
  afterAll(() => {
    const measured: MeasuredFile = {
      file: relative(root, expect.getState().testPath ?? ""),
      wallSeconds: rounded((performance.now() - began) / 1_000),
      processorSeconds: rounded(processorSeconds() - spent),
      reads: reads.take(),
    };
    appendFileSync(measures, `${JSON.stringify(measured)}\n`);
  });
}

/** Of this process, and of those that it started and that have ended. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

/** Only Linux tells; 0 elsewhere. Source: proc(5), `cutime` and `cstime` of /proc/pid/stat, in hundredths of a second. */
function childrenSeconds(): number {
  try {
    const [, rest = ""] = readFileSync("/proc/self/stat", "utf8").split(") ");
    const fields = rest.split(" ");
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
