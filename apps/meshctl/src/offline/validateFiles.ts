import { EXPLAINED_CODES, explainedCode } from "@isthmus/insights/catalogue";
import type { SuppressedFinding } from "@isthmus/insights/report";
import type { ExitCode, Io } from "../io.ts";
import { checkFiles, counted, exitCodeOf } from "./check.ts";
import { explained, FINDING_CODES, formatted } from "./findingFormats.ts";
import { printFindings, tally } from "./report.ts";
import { checkSuppressions, objectAtStart, suppressionOf } from "./suppressions.ts";
import type { ValidateOptions } from "./validateOptions.ts";

interface Circumstances {
  /** Of meshctl. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Files in, findings out: as text for people on `err`, or for programs on `out`. */
export async function validateFiles(options: ValidateOptions, { version, now }: Circumstances, io: Io): Promise<ExitCode> {
  checkSuppressions(options.suppress, [...FINDING_CODES, ...EXPLAINED_CODES.map(({ code }) => code)]);
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
  const suppressed: SuppressedFinding[] = [];
  if (options.suppress !== undefined) {
    findings = findings.filter((finding) => {
      const by = suppressionOf(options.suppress, { ...objectAtStart(finding.message), code: finding.code });
      if (by !== undefined) suppressed.push({ ...finding, reason: by, by: "the command line" });
      return by === undefined;
    });
    if (suppressed.length > 0) hidden += `; ${counted(suppressed.length, "finding")} suppressed by -S`;
  }
  if (options.output === "text") printFindings(findings, io);
  else {
    const explain = (code: string) => explained(code) ?? explainedCode(code);
    const context = { version, explain, ...(suppressed.length === 0 ? {} : { suppressed: { findings: suppressed, isListed: false } }) };
    await io.out(formatted(findings, options.output, context));
  }
  io.note(`${counted(count, "object")} read; ${tally(findings)}${hidden}\n`);
  return exitCodeOf(findings, options.failOn);
}
