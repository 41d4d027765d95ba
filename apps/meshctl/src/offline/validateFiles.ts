import { explainedCode } from "@isthmus/insights/catalogue";
import type { ExitCode, Io } from "../io.ts";
import { checkFiles, counted, exitCodeOf } from "./check.ts";
import { explained, formatted } from "./findingFormats.ts";
import { printFindings, tally } from "./report.ts";
import type { ValidateOptions } from "./validateOptions.ts";

interface Circumstances {
  /** Of meshctl. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Files in, findings out: as text for people on `err`, or for programs on `out`. */
export async function validateFiles(options: ValidateOptions, { version, now }: Circumstances, io: Io): Promise<ExitCode> {
  const checked = await checkFiles({ ...options, stage: "all" }, io);
  const { count } = checked;
  let { findings } = checked;
  let hidden = "";
  if (options.insights === true) {
    const { insightFindings } = await import("./insightFindings.ts");
    const insights = insightFindings(checked, { namespace: options.namespace, now });
    findings = [...findings, ...insights.findings];
    if (insights.suppressed > 0) hidden = `; ${counted(insights.suppressed, "insight")} suppressed`;
  }
  if (options.output === "text") printFindings(findings, io);
  else await io.out(formatted(findings, options.output, { version, explain: (code) => explained(code) ?? explainedCode(code) }));
  io.note(`${counted(count, "object")} read; ${tally(findings)}${hidden}\n`);
  return exitCodeOf(findings, options.failOn);
}
