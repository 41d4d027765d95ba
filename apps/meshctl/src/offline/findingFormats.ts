import { DISCOVERY_FINDINGS, FINDINGS, INPUT_FINDINGS } from "@isthmus/translators";
import { plainText, withoutHidden } from "../output/plainText.ts";
import { type OfflineFinding, placeText, type Severity } from "./findings.ts";

/** How findings are printed for other programs. */
export type FindingFormat = "json" | "sarif" | "github";

/** Findings as one text, without what a terminal acts on. `meaning` knows codes that are in no catalogue of findings. */
export function formatted(
  findings: readonly OfflineFinding[],
  format: FindingFormat,
  version: string,
  meaning: (code: string) => string | undefined = meaningOf,
): string {
  const plain = findings.map(plainFinding);
  if (format === "json") return `${JSON.stringify({ findings: plain }, undefined, 2)}\n`;
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
