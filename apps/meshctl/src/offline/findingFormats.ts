import { DISCOVERY_FINDINGS, FINDINGS, INPUT_FINDINGS } from "@isthmus/translators";
import { plainText, withoutHidden } from "../output/plainText.ts";
import { type OfflineFinding, placeText, type Severity } from "./findings.ts";
import type { FindingFormat } from "./formatNames.ts";

/** Findings as one text, without what a terminal acts on. `meaning` knows codes that are in no catalogue of findings. */
export function formatted(
  findings: readonly OfflineFinding[],
  format: FindingFormat,
  version: string,
  meaning: (code: string) => string | undefined = meaningOf,
): string {
  const plain = findings.map(plainFinding);
  if (format === "json") return `${JSON.stringify({ findings: plain }, undefined, 2)}\n`;
  if (format === "junit") return junit(plain);
  if (format === "markdown") return markdown(plain);
  if (format === "github") return plain.map((finding) => `${workflowCommand(finding)}\n`).join("");
  return `${JSON.stringify(sarif(plain, { version, meaning }), undefined, 2)}\n`;
}

/** A finding for people: one line. */
export function findingText(finding: OfflineFinding): string {
  return plainText(`${placeText(finding)}${finding.message} [${finding.code}]`, LONGEST_LINE);
}

// A path, and a sentence that may list names.
const LONGEST_LINE = 8_192;

/** Files and messages have names and texts that others wrote: logs are read on terminals. */
function plainFinding({ message, file, ...finding }: OfflineFinding): OfflineFinding {
  return { ...finding, message: withoutHidden(message), ...(file === undefined ? {} : { file: withoutHidden(file) }) };
}

/** What each code means; undefined for what is not in a catalogue. */
function meaningOf(code: string): string | undefined {
  const catalogues: readonly Readonly<Record<string, { readonly meaning: string }>>[] = [FINDINGS, DISCOVERY_FINDINGS, INPUT_FINDINGS];
  for (const catalogue of catalogues) if (Object.hasOwn(catalogue, code)) return catalogue[code]?.meaning;
  return undefined;
}

// Source: docs.github.com, "Workflow commands for GitHub Actions": these characters end or split a command.
function workflowCommand({ severity, code, message, file, line }: OfflineFinding): string {
  const data = (text: string) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const properties = [
    ...(file === undefined ? [] : [`file=${property(file)}`]),
    ...(line === undefined ? [] : [`line=${line}`]),
    `title=${property(code)}`,
  ];
  return `::${WORKFLOW_LEVELS[severity]} ${properties.join(",")}::${data(message)}`;
}

const WORKFLOW_LEVELS: Readonly<Record<Severity, string>> = { note: "notice", warning: "warning", rejected: "error" };
const SARIF_LEVELS: Readonly<Record<Severity, string>> = { note: "note", warning: "warning", rejected: "error" };

/** One test case for each finding, which fails unless it is a note; without any finding one that passes. Source: github.com/testmoapp/junitxml. */
function junit(findings: readonly OfflineFinding[]): string {
  const failures = findings.filter(({ severity }) => severity !== "note").length;
  const cases = findings.map(({ severity, code, message, file, line }) => {
    const place = `${file === undefined ? "" : ` file="${xmlText(file)}"`}${line === undefined ? "" : ` line="${line}"`}`;
    const text = xmlText(message);
    const said =
      severity === "note" ? `<system-out>${text}</system-out>` : `<failure type="${severity}" message="${text}">${text}</failure>`;
    return `    <testcase classname="meshctl" name="${xmlText(code)}"${place}>${said}</testcase>\n`;
  });
  const [tests, all] = findings.length === 0 ? [1, ['    <testcase classname="meshctl" name="no findings"/>\n']] : [findings.length, cases];
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<testsuites>\n  <testsuite name="meshctl" tests="${tests}" failures="${failures}">\n${all.join("")}  </testsuite>\n</testsuites>\n`
  );
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
function markdown(findings: readonly OfflineFinding[]): string {
  if (findings.length === 0) return "No findings.\n";
  const rows = findings.map(
    ({ severity, code, message, file, line }) =>
      `| ${severity} | ${markdownText(code)} | ${file === undefined ? "" : markdownText(line === undefined ? file : `${file}:${line}`)} | ${markdownText(message)} |\n`,
  );
  return `| severity | code | where | finding |\n|---|---|---|---|\n${rows.join("")}`;
}

/** Every character that has a meaning in Markdown stands for itself; so no text of others becomes a link, an image, a mention or HTML. */
function markdownText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\n", " ")
    .replaceAll("#", "&#35;")
    .replaceAll("@", "&#64;")
    .replaceAll("://", "&#58;//")
    .replace(/[\\`*_{}[\]()!|~]/g, "\\$&");
}

// Source: OASIS, Static Analysis Results Interchange Format 2.1.0.
function sarif(
  findings: readonly OfflineFinding[],
  { version, meaning }: { readonly version: string; readonly meaning: typeof meaningOf },
): object {
  const codes = [...new Set(findings.map(({ code }) => code))].sort();
  const rules = codes.map((code) => ({ id: code, shortDescription: { text: meaning(code) ?? code } }));
  const results = findings.map(({ severity, code, message, file, line }) => ({
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: SARIF_LEVELS[severity],
    message: { text: message },
    ...(file === undefined
      ? {}
      : {
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: encodeURI(file) },
                ...(line === undefined ? {} : { region: { startLine: line } }),
              },
            },
          ],
        }),
  }));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "meshctl", version, rules } }, results }],
  };
}
