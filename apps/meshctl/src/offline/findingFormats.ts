import {
  type CodeTexts,
  type FindingSeverity,
  plainFinding,
  plainSuppressed,
  type ReportedFinding,
  type SuppressedFinding,
  sarif,
} from "@isthmus/insights/report";
import { DISCOVERY_FINDINGS, FINDINGS, INPUT_FINDINGS } from "@isthmus/translators";
import { plainText } from "../output/plainText.ts";
import { codeQuality } from "./codeQuality.ts";
import { placeText } from "./findings.ts";
import type { FindingFormat } from "./formatNames.ts";
import { markdownText } from "./markdownText.ts";

/** What is known beside the findings themselves. */
export interface FindingContext {
  /** Of meshctl. */
  readonly version: string;
  /** What a code means. Default: the catalogues of findings. */
  readonly explain?: (code: string) => CodeTexts | undefined;
  /** Findings that somebody does not want to see. `isListed`: each of them is asked for, and not only their number. */
  readonly suppressed?: { readonly findings: readonly SuppressedFinding[]; readonly isListed: boolean };
}

/** Findings as one text, without what a terminal acts on. */
export function formatted(
  findings: readonly ReportedFinding[],
  format: FindingFormat,
  { version, explain = explained, suppressed }: FindingContext,
): string {
  const plain = findings.map(plainFinding);
  const hidden = (suppressed?.findings ?? []).map(plainSuppressed);
  const listed = suppressed?.isListed === true ? hidden : [];
  if (format === "json") return `${JSON.stringify({ findings: plain }, undefined, 2)}\n`;
  if (format === "junit") return junit(plain, hidden);
  if (format === "gitlab") return codeQuality([...plain, ...asInfo(listed)]);
  if (format === "markdown") return markdown(plain, { listed, count: hidden.length });
  if (format === "github") return workflowCommands(plain, { listed, count: hidden.length });
  const log = sarif(plain, {
    program: "meshctl",
    version,
    explain,
    ...(suppressed === undefined ? {} : { suppressed: { listed, count: hidden.length } }),
  });
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

/** A finding for people: one line. */
export function findingText(finding: ReportedFinding): string {
  return plainText(`${placeText(finding)}${finding.message} [${finding.code}]`, LONGEST_LINE);
}

// A path, and a sentence that may list names.
const LONGEST_LINE = 8_192;

/** The codes that `explained` knows. */
export const FINDING_CODES: readonly string[] = [FINDINGS, DISCOVERY_FINDINGS, INPUT_FINDINGS].flatMap((catalogue) =>
  Object.keys(catalogue),
);

/** What each code means; undefined for what is not in a catalogue. */
export function explained(code: string): CodeTexts | undefined {
  const catalogues: readonly Readonly<Record<string, { readonly meaning: string }>>[] = [FINDINGS, DISCOVERY_FINDINGS, INPUT_FINDINGS];
  for (const catalogue of catalogues) if (Object.hasOwn(catalogue, code)) return catalogue[code];
  return undefined;
}

interface Suppressed {
  readonly listed: readonly SuppressedFinding[];
  /** Of all, listed or not. */
  readonly count: number;
}

function workflowCommands(findings: readonly ReportedFinding[], { listed, count }: Suppressed): string {
  const number = count === 0 || listed.length > 0 ? "" : `::notice title=meshctl::${suppressedCount(count)}\n`;
  return [...findings, ...asInfo(listed)].map((finding) => `${workflowCommand(finding)}\n`).join("") + number;
}

/** Suppressed findings for readers that know no suppressions: the reason comes first. */
function asInfo(listed: readonly SuppressedFinding[]): readonly ReportedFinding[] {
  return listed.map(({ code, file, line, ...one }) => ({
    severity: "info",
    code,
    message: `${suppressionText(one)}: ${one.message}`,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  }));
}

/** Why a finding is suppressed. */
function suppressionText({ by, until, reason }: Pick<SuppressedFinding, "by" | "until" | "reason">): string {
  return `suppressed by ${by}${until === undefined ? "" : ` until ${until}`} (${reason})`;
}

function suppressedCount(count: number): string {
  return `${count === 1 ? "1 is" : `${count} are`} suppressed: --suppressed lists them`;
}

// Source: docs.github.com, "Workflow commands for GitHub Actions": these characters end or split a command.
function workflowCommand({ severity, code, message, file, line }: ReportedFinding): string {
  const data = (text: string) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const properties = [
    ...(file === undefined ? [] : [`file=${property(file)}`]),
    ...(line === undefined ? [] : [`line=${line}`]),
    `title=${property(code)}`,
  ];
  return `::${WORKFLOW_LEVELS[severity]} ${properties.join(",")}::${data(message)}`;
}

const WORKFLOW_LEVELS: Readonly<Record<FindingSeverity, string>> = { info: "notice", warning: "warning", error: "error" };

/**
 * One test case for each finding, which fails unless it is an info, and is skipped if it is suppressed; without any finding one that passes.
 * Source: github.com/testmoapp/junitxml.
 */
function junit(findings: readonly ReportedFinding[], suppressed: readonly SuppressedFinding[]): string {
  const failures = findings.filter(({ severity }) => severity !== "info").length;
  const cases = [
    ...findings.map((finding) => {
      const text = xmlText(finding.message);
      const { severity } = finding;
      const element =
        severity === "info" ? `<system-out>${text}</system-out>` : `<failure type="${severity}" message="${text}">${text}</failure>`;
      return testCase(finding, element);
    }),
    ...suppressed.map((one) =>
      testCase(one, `<skipped message="${xmlText(suppressionText(one))}"/><system-out>${xmlText(one.message)}</system-out>`),
    ),
  ];
  const all = cases.length === 0 ? ['    <testcase classname="meshctl" name="no findings"/>\n'] : cases;
  const skipped = suppressed.length === 0 ? "" : ` skipped="${suppressed.length}"`;
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<testsuites>\n  <testsuite name="meshctl" tests="${all.length}" failures="${failures}"${skipped}>\n${all.join("")}  </testsuite>\n</testsuites>\n`
  );
}

function testCase({ code, file, line }: ReportedFinding, element: string): string {
  const place = `${file === undefined ? "" : ` file="${xmlText(file)}"`}${line === undefined ? "" : ` line="${line}"`}`;
  return `    <testcase classname="meshctl" name="${xmlText(code)}"${place}>${element}</testcase>\n`;
}

/** For an element or an attribute in double quotes. U+FFFE and U+FFFF may not be in a document. */
function xmlText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;")
    .replaceAll("\t", "&#9;")
    .replaceAll("\ufffe", "")
    .replaceAll("\uffff", "");
}

/** A table, as for a comment on a pull request. */
function markdown(findings: readonly ReportedFinding[], { listed, count }: Suppressed): string {
  const number = count === 0 || listed.length > 0 ? "" : `${suppressedCount(count)}.\n`;
  if (findings.length + listed.length === 0) return `No findings.\n${number === "" ? "" : `\n${number}`}`;
  const rows = [
    ...findings,
    ...listed.map((one) => ({ ...one, severity: "suppressed", message: `${one.message} (${suppressionText(one)})` })),
  ].map(
    ({ severity, code, message, file, line }) =>
      `| ${severity} | ${markdownText(code)} | ${file === undefined ? "" : markdownText(line === undefined ? file : `${file}:${line}`)} | ${markdownText(message)} |\n`,
  );
  return `| severity | code | where | finding |\n|---|---|---|---|\n${rows.join("")}${number === "" ? "" : `\n${number}`}`;
}
