import type { FindingSeverity, ReportedFinding, SuppressedFinding } from "./finding.ts";

/** What a code means. */
export interface CodeTexts {
  /** One sentence. */
  readonly meaning: string;
  /** What follows from it. */
  readonly consequence?: string;
  /** What to do. */
  readonly remedy?: string;
}

/** What is known beside the findings themselves. */
export interface SarifContext {
  /** What found them: `meshctl`, `gloo-mesh-ui`. */
  readonly program: string;
  readonly version: string;
  readonly explain: (code: string) => CodeTexts | undefined;
  /** Undefined: nothing can be suppressed. `listed` are results; `count` is of all. */
  readonly suppressed?: { readonly listed: readonly SuppressedFinding[]; readonly count: number };
}

/**
 * A log of one run. Source: OASIS, Static Analysis Results Interchange Format 2.1.0: either every result has `suppressions` or none (3.27.23), an
 * empty list says that it is not suppressed; `inSource` is what stands in the object itself (3.35.2).
 */
export function sarif(findings: readonly ReportedFinding[], { program, version, explain, suppressed }: SarifContext): object {
  const listed = suppressed?.listed ?? [];
  const codes = [...new Set([...findings, ...listed].map(({ code }) => code))].sort();
  const results = [
    ...findings.map((finding) => ({ ...resultOf(finding, codes), ...(suppressed === undefined ? {} : { suppressions: [] }) })),
    ...listed.map((finding) => ({ ...resultOf(finding, codes), suppressions: [suppressionOf(finding)] })),
  ];
  const count = suppressed === undefined || suppressed.count === 0 ? {} : { properties: { suppressed: suppressed.count } };
  const driver = { name: program, version, rules: codes.map((code) => ruleOf(code, explain(code))) };
  return { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [{ tool: { driver }, results, ...count }] };
}

const LEVELS: Readonly<Record<FindingSeverity, string>> = { info: "note", warning: "warning", error: "error" };

function ruleOf(code: string, texts: CodeTexts | undefined): object {
  if (texts === undefined) return { id: code, shortDescription: { text: code } };
  const { meaning, consequence, remedy } = texts;
  return {
    id: code,
    shortDescription: { text: meaning },
    ...(consequence === undefined ? {} : { fullDescription: { text: `${meaning} ${consequence}` } }),
    ...(remedy === undefined ? {} : { help: { text: `Remedy: ${remedy}.` } }),
  };
}

function resultOf({ severity, code, message, file, line }: ReportedFinding, codes: readonly string[]): object {
  const region = line === undefined ? {} : { region: { startLine: line } };
  const place = file === undefined ? undefined : { physicalLocation: { artifactLocation: { uri: encodeURI(file) }, ...region } };
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: LEVELS[severity],
    message: { text: message },
    ...(place === undefined ? {} : { locations: [place] }),
  };
}

function suppressionOf({ by, reason, until }: SuppressedFinding): object {
  return {
    kind: by === "annotation" ? "inSource" : "external",
    justification: reason,
    properties: { by, ...(until === undefined ? {} : { until }) },
  };
}
