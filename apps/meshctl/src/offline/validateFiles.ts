import { EXPLAINED_CODES, explainedCode } from "@isthmus/insights/catalogue";
import type { SuppressedFinding } from "@isthmus/insights/report";
import type { ExitCode, Io } from "../io.ts";
import { checkFiles, counted, exitCodeOf } from "./check.ts";
import { explained, FINDING_CODES, formatted } from "./findingFormats.ts";
import { inputFilesOf } from "./inputPlaces.ts";
import { printFindingsAsData, tally } from "./report.ts";
import { checkSuppressions, objectAtStart, suppressionOf } from "./suppressions.ts";
import type { ValidateOptions } from "./validateOptions.ts";

interface Circumstances {
  /** Of meshctl. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Files in, findings out. `files`: those that follow the options. */
export async function validateFiles(
  files: readonly string[],
  options: ValidateOptions,
  { version, now }: Circumstances,
  io: Io,
): Promise<ExitCode> {
  checkSuppressions(options.suppress, [...FINDING_CODES, ...EXPLAINED_CODES.map(({ code }) => code)]);
  // Of a server it is known when it received objects, which decides conflicts; of files only when they were created.
  const input = { file: inputFilesOf({ ...options, files }), ages: options.snapshot === undefined ? "CREATED" : "FIRST_SEEN" } as const;
  const checked = await checkFiles({ ...options, ...input, stage: "all", leavesWhatClustersKnow: true }, io);
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
  if (options.output === "text") await printFindingsAsData(findings, io);
  else {
    const explain = (code: string) => explained(code) ?? explainedCode(code);
    const context = { version, explain, ...(suppressed.length === 0 ? {} : { suppressed: { findings: suppressed, isListed: false } }) };
    await io.out(formatted(findings, options.output, context));
  }
  const code = exitCodeOf(findings, options.failOn);
  const isUnknown = options.strict === "true" && findings.some(({ code }) => UNKNOWN.has(code));
  if (code === 0 && isUnknown) hidden += "; fields and modes that are not known fail: correct them, or pass --strict=false";
  io.note(`${counted(count, "object")} read; ${tally(findings)}${hidden}\n`);
  return isUnknown ? 1 : code;
}

// Reported as warnings, as the rest of such an object is in force; in a file somebody has misspelt something.
const UNKNOWN: ReadonlySet<string> = new Set(["FieldUnknown", "ModeUnknown"]);
