import type { ExitCode, Io } from "../io.ts";
import { checkFiles, counted, exitCodeOf } from "./check.ts";
import { formatted } from "./findingFormats.ts";
import { printFindings, tally } from "./report.ts";
import type { ValidateOptions } from "./validateOptions.ts";

/** Files in, findings out: as text for people on `err`, or for programs on `out`. */
export async function validateFiles(options: ValidateOptions, version: string, io: Io): Promise<ExitCode> {
  const { count, findings } = await checkFiles({ ...options, stage: "all" }, io);
  if (options.output === "text") printFindings(findings, io);
  else await io.out(formatted(findings, options.output, { version }));
  io.note(`${counted(count, "object")} read; ${tally(findings)}\n`);
  return exitCodeOf(findings, options.failOn);
}
